"""train.json: the record of a training, written while it runs and completed at its end."""

from msgspec import UNSET, Struct, UnsetType, field

from realformer_nmt.common.files.records import Finite, Positive, StageRecord, Text


class TrainingSession(Struct, frozen=True, kw_only=True):
    """Time between a start of fairseq-train and its end or death, and what it trained with."""

    started: str
    seconds: float
    gpus: int
    precision: str | UnsetType = UNSET
    versions: dict[str, Text] = {}


class CarriedSubwords(Struct, frozen=True, kw_only=True):
    """Number of subwords of a side, and of those whose embeddings were taken over."""

    pieces: int
    carried: int


class TrainRecord(StageRecord, frozen=True, kw_only=True):
    """Record of a training; a field that is unset was not recorded by the version that wrote it."""

    protocol: Text | UnsetType = UNSET
    arch: str | UnsetType = UNSET
    layers: list[int] = field(default_factory=list)  # of encoder and decoder
    tokens_a_step: int | UnsetType = UNSET
    epochs: int | UnsetType | None = UNSET
    flags: list[str] = field(default_factory=list)
    average: list[str] | UnsetType = UNSET
    decoding: list[str] | UnsetType = UNSET
    settings: dict[str, object] | UnsetType = UNSET  # the protocol's
    updates: Positive | UnsetType = UNSET
    updates_an_epoch: int | UnsetType | None = UNSET
    gpus: int | UnsetType = UNSET
    machines: int | UnsetType = UNSET
    device: Text | UnsetType = UNSET
    precision: str | UnsetType = UNSET
    carry_embeddings: dict[str, CarriedSubwords] | UnsetType = UNSET
    command: list[Text] | UnsetType = UNSET
    sessions: list[TrainingSession] = field(default_factory=list)
    wall_clock_hours: Finite | UnsetType | None = UNSET
    gpu_hours: Finite | UnsetType | None = UNSET
    checkpoints: dict[str, str] = field(default_factory=dict)  # name of each that was written, by its hash

    @property
    def is_complete(self) -> bool:
        return self.complete is True
