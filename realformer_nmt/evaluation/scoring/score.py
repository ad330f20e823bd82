"""`realformer-nmt score`: scores of a translation against the raw reference, and run.json, the whole run's record."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.numbers import SAMPLES, SEEDS, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, StageRequest

FEWEST = 40  # samples, of which one is in each of the tails of 2.5 %
COMET = "Unbabel/wmt22-comet-da"


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(StageRequest):
    """Score a folder of `realformer-nmt translate` in every metric that its text allows."""

    subcommand: ClassVar[str] = "score"
    implementation: ClassVar[str] = "realformer_nmt.evaluation.scoring.scoring"
    examples: ClassVar[str] = "example: realformer-nmt score run/test --training run/train.json --output run/run.json"

    translation: Path = argument("the folder that `realformer-nmt translate` has filled", metavar="FOLDER")
    output: Path = option("where the scores are written", metavar="RUN.JSON")
    reference: Path | None = option("raw reference (default: the corpus's)", None, metavar="FILE", either="reference")
    test_set: str | None = option(
        "name or FILE.tsv or FILE.jsonl, whose source was translated (default: as recorded by `translate`)",
        None,
        metavar="NAME",
        either="reference",
    )
    source: Path | None = option("raw source, for COMET (default: the corpus's)", None, metavar="FILE")
    rouge: bool = option("the texts are summaries: compute ROUGE-1, 2 and L too", False)
    comet: str | None = option(
        f"compute COMET too, by a folder, a checkpoint or a name of the hub (default: {COMET})",
        None,
        metavar="MODEL",
        without_value=COMET,
    )
    cpu: bool = option("compute COMET on the CPU even if there is a GPU", False)
    bootstrap: int = option(
        "samples for the intervals, 40 or more; 0: no intervals",
        1000,
        metavar="N",
        range=whole(FEWEST, SAMPLES, none=0),
    )
    seed: int = option("seed of the bootstrap", 12345, metavar="N", range=whole(1, SEEDS))
    published: str | None = option("show its published figures (default: the corpus)", None, metavar="DATASET")
    training: Path | None = option("the train.json of `realformer-nmt train`", None, metavar="TRAIN.JSON")
    fresh: bool = option(HELP, False)


REQUEST = ScoreRequest
