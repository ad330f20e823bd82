"""fairseq's task for sounds and its loss for classes import sklearn and scipy: two fifths of every start, for figures
that few trainings ask for. Here these functions are imported when they are called."""

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

IMPORTERS = ("fairseq.tasks.audio_classification", "fairseq.criterions.sentence_prediction")
LATE = ("sklearn", "sklearn.metrics", "scipy.stats")


def import_late() -> None:
    """Before fairseq is imported; after that it changes nothing."""
    if "fairseq" not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in IMPORTERS else None
        if spec and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        with _stand_ins():
            super().exec_module(module)


class _StandIn(ModuleType):
    """Its functions are those of the module of its name."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # what Python asks of a module
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **kwargs)

        return call


@contextmanager
def _stand_ins() -> Iterator[None]:
    made = {name: _StandIn(name) for name in LATE if name not in sys.modules}
    for name, module in made.items():
        parent, _, own = name.rpartition(".")
        if parent in made:
            setattr(made[parent], own, module)
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]
