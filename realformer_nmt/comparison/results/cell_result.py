"""A cell of results.json, as classes."""

from msgspec import Struct, field

from realformer_nmt.checkpoints.model_description import Number, ShortcutWeight
from realformer_nmt.comparison.records.curves import CurvePoint


class CellScore(Struct, frozen=True, kw_only=True):
    """Score of one training; a validation loss has no interval."""

    score: Number
    interval: Number | None = None  # half the confidence interval over other sentences


class CellCurves(Struct, frozen=True, kw_only=True):
    train: list[CurvePoint] = []
    valid: list[CurvePoint] = []

    @property
    def updates(self) -> int:
        """The updates of the training, whose last ones are often in no point of the training loss."""
        return max((curve[-1].update for curve in (self.train, self.valid) if curve), default=0)


class CellResult(Struct, frozen=True, kw_only=True):
    """Result of one training: its family, depth, seed and values on the axes, its state and its scores."""

    name: str
    family: str
    layers: list[int]  # of encoder and decoder
    depth: str
    seed: int
    axes: dict[str, Number] = {}
    state: str
    evidence: str | None = None
    scores: dict[str, CellScore] = {}
    parameters: Number | None = None
    tokens_a_second: Number | None = None
    hours: Number | None = None
    gpu_hours: Number | None = None
    started: str | None = None
    finished: str | None = None
    device: str | None = None
    host: str | None = None
    commands: list[str] = []
    settings: dict[str, object] = {}  # fairseq's, by its names
    versions: dict[str, str] = {}
    differences: list[str] = []  # to what the grid asks for now
    fairseq_train: str | None = None
    unigram_entropy: Number | None = None
    curves: CellCurves = field(default_factory=CellCurves)
    shortcuts: list[ShortcutWeight] = []
