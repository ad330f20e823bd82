"""analysis.json: what `realformer-nmt analyse` measured in each model."""

from msgspec import Struct

from realformer_nmt.checkpoints.model_description import Architecture
from realformer_nmt.common.files.records import StageRecord

Table = list[list[float]]  # layers x heads, or layers x layers


class HeadStatistics(Struct, frozen=True, kw_only=True):
    """Mean of a figure over queries, for each head."""

    mean: Table


class ChainFigures(Struct, frozen=True, kw_only=True):
    """Figures of one chain of attentions; divergences are between a layer and the one above."""

    queries: int | None = None
    entropy: HeadStatistics
    divergence: HeadStatistics
    looks: dict[str, Table] = {}  # share of the attention, by kind of position
    share_of_heads: dict[str, float] = {}
    alignment_error_rate: Table | None = None


class AttentionFigures(Struct, frozen=True, kw_only=True):
    """Figures of all chains of a model."""

    unit: str | None = None
    chains: dict[str, ChainFigures]


class GradientNorms(Struct, frozen=True, kw_only=True):
    """Norm of the gradient of each layer of a side, and of each of its parts."""

    norm: list[float]
    parts: dict[str, list[float]]


class ShortcutTerms(Struct, frozen=True, kw_only=True):
    """Terms of a shortcut, w * x + f: w, Var f / (Var wx + Var f), and the effective w, sqrt(Var wx / Var f).

    The effective w is what w would be if stream and branch were of the same size; there is none if f is constant.
    ADMIN (Liu et al. 2020) takes its profile from these variances.
    """

    w: float | None = None
    share_of_branch: float
    effective_w: float | None = None


class StreamFigures(Struct, frozen=True, kw_only=True):
    """Root mean square of each tensor of the stream by layer, from 0, the input of the first; and the shortcuts."""

    norm: Table = []
    sublayers: dict[str, ShortcutTerms]  # by name, in order of execution


class LayerSimilarity(Struct, frozen=True, kw_only=True):
    """Cosine of each layer with the one below, effective rank of each, and CKA of each pair, the input included."""

    cosine: list[float]
    effective_rank: list[float] = []
    cka: Table = []


class LayerFigures(Struct, frozen=True, kw_only=True):
    """Figures of a model's layers by side, in one state of its weights."""

    loss: float | None = None  # bits per token
    gradients: dict[str, GradientNorms] = {}
    stream: dict[str, StreamFigures]
    disturbance: dict[str, list[float]] = {}
    likeness: dict[str, LayerSimilarity]


class DepthFigures(Struct, frozen=True, kw_only=True):
    """Figures of a model before its first update and as trained, and the loss without each of its layers."""

    sentences: int | None = None
    start: LayerFigures
    checkpoint: LayerFigures
    left_out: dict[str, list[float]]


class SentenceTokens(Struct, frozen=True, kw_only=True):
    """Subwords of the sentence that was drawn, and of its translation."""

    source: list[str]
    target: list[str]


class AnalysedModel(Architecture, frozen=True, kw_only=True):
    """Figures of one model."""

    name: str
    checkpoint: str | None = None
    updates: int | None = None
    sentences: int | None = None
    attention: AttentionFigures
    depth: DepthFigures
    sentence: SentenceTokens | None = None


class AnalysisRecord(StageRecord, frozen=True, kw_only=True):
    """Record of an analysis."""

    models: list[AnalysedModel]
