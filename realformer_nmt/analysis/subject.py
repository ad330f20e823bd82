"""The models that are analysed: of a run, or of a checkpoint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis import watching
from realformer_nmt.checkpoints import inspection, layout, run, selection
from realformer_nmt.checkpoints.inspection import Model
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.provenance import named
from realformer_nmt.fairseq_patches import trained_corpus


@dataclass(frozen=True)
class Subject(Generic[Model]):
    name: str  # in tables and figures
    path: Path
    model: Model  # in evaluation mode
    options: dict[str, Any]
    updates: int | None
    words: Mapping[str, str] = field(default_factory=dict)  # hashes of the dictionaries, where it knows them

    def describe(self) -> dict[str, Any]:
        known = (*inspection.CHOICES, *inspection.SIZES)
        chosen = {name: self.options[name] for name in known if name in self.options}
        arch = inspection.arch_of(self.options)
        where = {"name": self.name, "checkpoint": str(self.path.resolve())}
        return {**where, "arch": arch, **chosen, "updates": self.updates}


def named_once(given: Sequence[Path]) -> dict[str, Path]:
    """What is given, by its name in tables and figures."""
    return dict(zip(names(given), selection.named([run.checkpoint(path) for path in given]), strict=True))


def names(given: Sequence[Path]) -> list[str]:
    """Of a run the folder's, of a checkpoint the file's; with the whole path where two are alike."""
    found = {path: name for name, path in named([path.resolve() for path in given]).items()}
    return [found[path.resolve()].removesuffix(".pt") for path in given]


Build = Callable[[Path, dict[str, Any], dict[str, Tensor]], Model]


def load(name: str, path: Path, build: Build[Model]) -> Subject[Model]:
    state = layout.load(path)
    options = layout.options(state)
    inspection.demand_own(path, options)
    model = build(path, {**options, "checkpoint_activations": False}, state["model"]).eval()
    words = trained_corpus.entry(state.get("task_state"), "dictionaries", dict)
    return Subject(name, path, model, options, layout.updates(state), words)


def demand_dictionaries(subject: Subject[Model], data: Path, *dictionaries: Dictionary) -> None:
    """A model of other dictionaries would read other words."""
    sizes = [len(words) for words in dictionaries]
    own = [len(stack.embed_tokens.weight) for stack in watching.stacks(subject.model).values()]
    if own != sizes:
        held, given = (" and ".join(map(str, numbers)) for numbers in (own, sizes))
        raise UserError(
            f"{subject.path} has dictionaries of {held} entries, and {data} of {given}: "
            "give the --data that it was trained on"
        )
    read = dict(zip(("source", "target"), dictionaries, strict=False))
    try:
        trained_corpus.demand_same(read, data, {"dictionaries": subject.words})
    except trained_corpus.OtherCorpusError as error:
        raise UserError(f"{subject.path}: {error}") from error
