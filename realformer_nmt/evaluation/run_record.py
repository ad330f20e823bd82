"""run.json: the scores of a model on a test set, with all that is known of how it was trained and decoded."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.model_description import ModelDescription
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.files.records import Finite, StageRecord, Text
from realformer_nmt.evaluation.scoring.published import PublishedFigure
from realformer_nmt.evaluation.translating.translation_record import DecodingSettings, Measures, TranslationRecord


class Score(Struct, frozen=True, kw_only=True):
    """Score of a test set."""

    metric: Text  # its label
    score: Finite
    signature: Text
    text: str | UnsetType = UNSET  # the form of the text that was compared
    mean: float | UnsetType = UNSET  # of the bootstrap's samples
    interval: Finite | UnsetType | None = UNSET  # 95 % of them lie within mean +- interval
    empty: int | UnsetType = UNSET  # hypotheses without a word, which a neural metric may score high
    segments: list[Finite] | UnsetType = UNSET  # of a metric that is their mean


class ModelRecord(ModelDescription, frozen=True, kw_only=True):
    """Model that was tested."""

    checkpoint: str
    sha256: str
    epochs: int | None = None
    averaged: list[SourceCheckpoint] = field(default_factory=list)
    seed: int | None = None
    wall_clock_hours: Finite | None = None


class RecordedFile(Struct, frozen=True, kw_only=True):
    """Path of a file from the folder of the record, and its hash."""

    path: Annotated[str, Meta(pattern=r"^[^\0]*\Z")]
    sha256: str


class RunRecord(StageRecord, frozen=True, kw_only=True):
    """Record of a tested model: of `score` with its translation and training, or of `evaluate` with its measures."""

    corpus: Text | None = None
    subset: Text | None = None
    lines: int | UnsetType = UNSET
    unit: Text | UnsetType = UNSET  # that is counted, where it is not lines
    scores: dict[str, Score] = field(default_factory=dict)
    published: list[PublishedFigure] | UnsetType | None = UNSET
    models: Annotated[list[ModelRecord], Meta(min_length=1)] = field(default_factory=list)
    training: TrainRecord | UnsetType | None = UNSET
    training_checked: bool | UnsetType | None = UNSET  # whether hashes show that the model is of the training
    translation: TranslationRecord | UnsetType = UNSET
    files: dict[str, RecordedFile] = field(default_factory=dict)
    seed: int | UnsetType = UNSET  # of the bootstrap
    versions: dict[str, str] | UnsetType = UNSET
    commit: Text | None = None
    arch: str | UnsetType | None = UNSET
    parameters: int | None = None
    validation: Measures | UnsetType | None = UNSET
    protocol: str | UnsetType | None = UNSET
    averaged: list[str] | UnsetType = UNSET
    decoding: DecodingSettings | UnsetType | None = UNSET
    training_seed: int | UnsetType | None = UNSET
    wall_clock_hours: Finite | UnsetType | None = UNSET  # the training's, or else the first model's
    gpu_hours: Finite | UnsetType | None = UNSET
    task: str | UnsetType = UNSET
    measures: dict[str, float] | UnsetType = UNSET  # fairseq-validate's means
    targets: str | UnsetType = UNSET  # hash of the targets

    @property
    def validation_loss(self) -> float | None:
        loss = (self.validation or {}).get("nll_loss")
        return loss if isinstance(loss, float) else None
