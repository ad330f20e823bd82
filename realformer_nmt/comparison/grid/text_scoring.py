"""Cells whose models are measured on a text, on sentences or on questions: their data-bin, their last stage, and the
test of a difference."""

from pathlib import Path

from realformer_nmt.common import checksummed_json
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import AGAIN, Stage, of_subset
from realformer_nmt.comparison.grid.corpus import Corpus
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.data_bins import subsets, targets
from realformer_nmt.evaluation import row_table
from realformer_nmt.evaluation.evaluate import EvaluateRequest
from realformer_nmt.evaluation.metric_table import METRICS
from realformer_nmt.evaluation.resampling import exchanged, randomised
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.questions import squad

MASK_SEED = 1  # every cell is asked for the same words, whatever its seed
UNMASKED = ("sentence_prediction", "question_answering")


def find(grid: Grid, given: Path | None, archives: Path | None, _folder: Path) -> Corpus:
    """A data-bin that `fairseq-preprocess --only-source` has made, or several, in a folder."""
    said = {"corpus": grid.corpus, "[data]": grid.data, "the axis data": (grid.axes or {}).get("data")}
    said["--archives"] = archives
    for name, value in said.items():
        if value:
            raise UserError(
                f"{grid.name}.toml: {name} is for translations, and the task is {grid.task}: leave it out, "
                "and name the data-bin by prepared, or by --prepared DIR"
            )
    if (given is None) == (grid.prepared is None):
        told = "names no data-bin: pass" if given is None else "says prepared: leave out"
        raise UserError(f"{grid.name}.toml {told} --prepared DIR, the data-bin of task {grid.task}")
    data = given or grid.path(grid.prepared or "")
    return Corpus(data.resolve().name, data, task=grid.task)


def check(corpus: Corpus, subset: str) -> None:
    subsets.count(corpus.data, subset, *corpus.pair())


def check_labelled(corpus: Corpus, subset: str) -> None:
    subsets.count(corpus.data / "input0", subset)
    targets.check_labels(corpus.data, subset)


def check_questions(corpus: Corpus, subset: str) -> None:
    path = corpus.data / f"{subset}.json"
    squad.check_in_place(path, squad.read(path))


def stages(grid: Grid, corpus: Corpus, folder: Path, _: Protocol, subset: str) -> tuple[Stage, ...]:
    """Return how a subset is measured; the first one's stage measures the validation loss, too."""
    first, record = subset == grid.subsets[0], of_subset(folder, "run", subset, ".json")
    request = EvaluateRequest(
        checkpoint=folder / "average.pt",
        data=corpus.data,
        subset=subset,
        output=record,
        validate=first,
        mask_seed=None if grid.task in UNMASKED else MASK_SEED,
    )
    return (Stage("evaluate" if first else f"evaluate {subset}", request, record),)


def tested(metric: str) -> str:
    return metric


def p_value(ours: Path, theirs: Path, metric: str, samples: int, seed: int) -> float | None:
    """None where the two had other targets: other text, or other words of it masked."""
    runs = [checksummed_json.read(record, AGAIN) for record in (ours, theirs)]
    if runs[0].get("targets") != runs[1].get("targets"):
        return None
    own, other = (row_table.read(*pair) for pair in zip((ours, theirs), runs, strict=True))
    asked = METRICS[metric]
    if asked.part:
        return randomised(asked.part(own) - asked.part(other), samples, seed)
    return exchanged(own, other, asked.figure, samples, seed) if asked.figure else None
