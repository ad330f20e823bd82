"""`realformer-nmt evaluate`: the loss and the scores of a model of any task on a subset, and their record."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.common.numbers import SEED, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, StageRequest


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(StageRequest):
    """Measure a model as its training validates it: loss in bits, and perplexity or accuracy where its task has them,
    scores with their intervals, and a row for each sequence, sentence or question in a table beside the record. For
    language models, masked ones, those that fill in spans, classifiers and models that answer questions; for
    translations there are `translate` and `score`."""

    subcommand: ClassVar[str] = "evaluate"
    implementation: ClassVar[str] = "realformer_nmt.evaluation.rows.evaluation_run"
    examples: ClassVar[str] = (
        "example: realformer-nmt evaluate lm/checkpoint_last.pt --data data-bin --output lm/test.json"
    )

    checkpoint: Path = argument("a checkpoint, or a run's folder", parse=model_in_run.parse_checkpoint)
    data: Path = option("of fairseq-preprocess", metavar="DATA-BIN")
    subset: str = option("part of the data-bin (default: test)", "test")
    output: Path = option("the record", metavar="FILE.JSON")
    validate: bool = option("measure the subset valid, too", False)
    mask_seed: int | None = option(
        "mask words as a training of this --seed does (default: its own)", None, metavar="N", range=SEED
    )
    max_tokens: int | None = option("tokens in a batch (default: the training's)", None, metavar="N", range=whole(1))
    batch_size: int | None = option("sentences in a batch, at most", None, metavar="N", range=whole(1))
    cpu: bool = option("use the CPU even if there is a GPU", False)
    fresh: bool = option(HELP, False)


REQUEST = EvaluateRequest
