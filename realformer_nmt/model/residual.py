"""The table of topologies, and ResiDual: how a sub-layer reads from the stream and writes to it."""

from torch import Tensor, nn

from realformer_nmt.model.topologies.attention_residuals import AttentionResiduals, BlockAttentionResiduals
from realformer_nmt.model.topologies.branch_norms import Keel, NoNorm, PeriLN, ResPost, SubLN
from realformer_nmt.model.topologies.delta_rule import DeepDelta
from realformer_nmt.model.topologies.dense_former import DenseFormer
from realformer_nmt.model.topologies.hybrid_norm import HybridNorm
from realformer_nmt.model.topologies.hyper_connections import Hyper, HyperStatic
from realformer_nmt.model.topologies.layer_gates import GPAS, ReZero
from realformer_nmt.model.topologies.layer_history import PostHistory, PreHistory
from realformer_nmt.model.topologies.long_shortcuts import BottomToTop, RungeKutta, Siamese, SpanNorm
from realformer_nmt.model.topologies.manifold_connections import ManifoldHyper
from realformer_nmt.model.topologies.norm_former import NormFormer
from realformer_nmt.model.topologies.norms_by_depth import LayerNormScaling, MixLN
from realformer_nmt.model.topologies.permutation_connections import PermutationHyper
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PostLN, PreLN, Stream, Topology


class Dual(Topology):
    """b = f(x); x = LN(shortcut(x, b)); d = d + b from d = embedding; x + LN(d) after the last layer.

    ResiDual, Xie et al. 2023, section 3. d is in fp32, so the paper's factor against fp16 overflow is not needed.
    """

    def final_norm(self) -> nn.Module:
        return self.new_norm(self.width, eps=1e-7)

    def enter(self, x: Tensor) -> Stream:
        return x, x.float()

    def read(self, stream: Stream, _norm: nn.Module, _place: Place) -> Tensor:
        return stream[0]

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        x, d = stream
        return norm(shortcut(x, branch)), d + branch

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        x, d = stream
        out: Tensor = x + final_norm(d)
        return out.type_as(x)


TOPOLOGIES: dict[str, type[Topology]] = {
    "post": PostLN,
    "pre": PreLN,
    "dual": Dual,
    "attn_res": AttentionResiduals,
    "b2t": BottomToTop,
    "block_attn_res": BlockAttentionResiduals,
    "delta": DeepDelta,
    "dense_former": DenseFormer,
    "dlcl_post": PostHistory,
    "dlcl_pre": PreHistory,
    "gpas": GPAS,
    "hybrid_norm": HybridNorm,
    "hyper": Hyper,
    "hyper_static": HyperStatic,
    "keel": Keel,
    "layernorm_scaling": LayerNormScaling,
    "mhc": ManifoldHyper,
    "mhc_lite": PermutationHyper,
    "mix_ln": MixLN,
    "no_norm": NoNorm,
    "norm_former": NormFormer,
    "peri": PeriLN,
    "res_post": ResPost,
    "rezero": ReZero,
    "rk2": RungeKutta,
    "siamese": Siamese,
    "span_norm": SpanNorm,
    "sub_ln": SubLN,
}
