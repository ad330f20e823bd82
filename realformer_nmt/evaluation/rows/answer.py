"""`realformer-nmt answer`: the span of its context with which a model answers each question."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.common.numbers import whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, StageRequest


@dataclass(frozen=True, kw_only=True)
class AnswerRequest(StageRequest):
    """Answer questions in SQuAD's format by a model of --task question_answering."""

    subcommand: ClassVar[str] = "answer"
    implementation: ClassVar[str] = "realformer_nmt.evaluation.rows.answering"
    examples: ClassVar[str] = (
        "example: realformer-nmt answer answers/checkpoint_best.pt --questions dev-v1.1.json --output answers/dev"
    )

    checkpoint: Path = argument("a checkpoint, or a run's folder", parse=model_in_run.parse_checkpoint)
    questions: Path = option("in SQuAD's format", metavar="FILE.JSON")
    output: Path = option("of answers.json and the record", metavar="FOLDER")
    data: Path | None = option("dictionary and subwords (default: the training's)", None, metavar="FOLDER")
    longest: int = option("longest answer, in tokens (default: 30)", 30, metavar="N", range=whole(1))
    no_answer: float | None = option(
        "give an empty answer if it scores more than X above the best span; 0 for SQuAD 2.0 (default: never)",
        None,
        metavar="X",
    )
    batch_size: int = option("windows in a batch (default: 16)", 16, metavar="N", range=whole(1))
    cpu: bool = option("use the CPU even if there is a GPU", False)
    fresh: bool = option(HELP, False)


REQUEST = AnswerRequest
