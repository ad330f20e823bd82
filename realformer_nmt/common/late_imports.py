"""Quick imports of fairseq: sklearn and scipy only when it calls them, and no garbage collection.

fairseq's audio task and its sentence prediction loss import both, which takes two fifths of every start, for figures
that few trainings ask for. What imports bring is never garbage, and looking through it takes a quarter of a short
command's time, most of it at the exit.
"""

import gc
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
    """Make fairseq import sklearn and scipy late; call it before fairseq is imported, later it does nothing."""
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
    """A module that imports the real module of its name when one of its functions is called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # Python itself looks these up in modules
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **kwargs)

        return call


@contextmanager
def _stand_ins() -> Iterator[None]:
    modules = {name: _StandIn(name) for name in LATE if name not in sys.modules}
    for name, module in modules.items():
        parent, _, attribute = name.rpartition(".")
        if parent in modules:
            setattr(modules[parent], attribute, module)
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]


@contextmanager
def frozen(module: str) -> Iterator[None]:
    """Pause collection while a module is imported for the first time, and leave what exists then out of later ones."""
    if module in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
