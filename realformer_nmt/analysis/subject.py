"""The models that are analysed: of a run, or of a checkpoint."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fairseq.data import Dictionary

from realformer_nmt.checkpoints import inspection, layout, run, selection
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.provenance import named
from realformer_nmt.fairseq_patches import trained_corpus
from realformer_nmt.model.model import TranslationModel


class Subject(NamedTuple):
    name: str  # in tables and figures
    path: Path
    model: TranslationModel  # in evaluation mode
    options: dict[str, Any]
    updates: int | None
    words: Mapping[str, str] = MappingProxyType({})  # hashes of the dictionaries, where the checkpoint knows them

    def describe(self) -> dict[str, Any]:
        chosen = {name: self.options.get(name) for name in (*inspection.CHOICES, *inspection.SIZES)}
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


def load(name: str, path: Path) -> Subject:
    state = layout.load(path)
    options = layout.options(state)
    inspection.demand_own(path, options)
    model = inspection.build(path, {**options, "checkpoint_activations": False}, state["model"]).eval()
    words = trained_corpus.entry(state.get("task_state"), "dictionaries", dict)
    return Subject(name, path, model, options, layout.updates(state), words)


def demand_dictionaries(subject: Subject, data: Path, source: Dictionary, target: Dictionary) -> None:
    """A model of other dictionaries would read other words."""
    sizes = len(source), len(target)
    own = tuple(len(getattr(subject.model, side).embed_tokens.weight) for side in ("encoder", "decoder"))
    if own != sizes:
        raise UserError(
            f"{subject.path} has dictionaries of {own[0]} and {own[1]} entries, and {data} of {sizes[0]} and "
            f"{sizes[1]}: give the --data that it was trained on"
        )
    try:
        trained_corpus.demand_same({"source": source, "target": target}, data, {"dictionaries": subject.words})
    except trained_corpus.OtherCorpusError as error:
        raise UserError(f"{subject.path}: {error}") from error
