"""Models to be analysed, of a run or of a checkpoint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis import hooks
from realformer_nmt.checkpoints import inspection, model_in_run, selection
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.inspection import Model
from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.data import dictionary_checks


@dataclass(frozen=True)
class LoadedModel(Generic[Model]):
    name: str  # in tables and figures
    path: Path
    model: Model  # in evaluation mode
    options: Options
    updates: int | None
    words: Mapping[str, str] = field(default_factory=dict)  # hashes of the dictionaries, where the checkpoint has them


def paths_by_name(models: Sequence[Path]) -> dict[str, Path]:
    """Return the checkpoints by their names in tables and figures.

    These are the names of the runs' folders or of the checkpoints' files, or whole paths where two are the same.
    """
    paths = [path.resolve() for path in models]
    short = [path.name.removesuffix(".pt") for path in paths]
    names = [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]
    checkpoints = selection.check_distinct([model_in_run.checkpoint(path) for path in models])
    return dict(zip(names, checkpoints, strict=True))


Build = Callable[[Path, Options, dict[str, Tensor]], Model]


def load(name: str, path: Path, build: Build[Model]) -> LoadedModel[Model]:
    state = checkpoint_fields.load(path)
    options = checkpoint_fields.options(state)
    inspection.check_arch(path, options)
    model = build(path, {**options, "checkpoint_activations": False}, state["model"]).eval()
    words = dictionary_checks.entry(state.get("task_state"), "dictionaries", dict)
    return LoadedModel(name, path, model, options, checkpoint_fields.updates(state), words)


def check_dictionaries(subject: LoadedModel[Model], data: Path, *dictionaries: Dictionary) -> None:
    """Raise an error if the model was trained with other dictionaries."""
    sizes = [len(words) for words in dictionaries]
    trained = [len(stack.embed_tokens.weight) for stack in hooks.stacks(subject.model).values()]
    if trained != sizes:
        raise UserError(
            f"{subject.path} has dictionaries of {' and '.join(map(str, trained))} entries, "
            f"and {data} of {' and '.join(map(str, sizes))}: give the --data that it was trained on"
        )
    read = dict(zip(("source", "target"), dictionaries, strict=False))
    try:
        dictionary_checks.check_same(read, data, {"dictionaries": subject.words})
    except dictionary_checks.OtherCorpusError as error:
        raise UserError(f"{subject.path}: {error}") from error
