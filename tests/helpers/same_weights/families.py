"""Outputs and input gradients of each --arch from the shared weights: `FAMILIES["rezero"]()`."""

from collections.abc import Callable
from functools import partial

import torch
from same_weights.attention import synthesizer, talking_heads
from same_weights.draws import HEADS, LAYERS, SHAPE, WIDTH, Outputs, bounds, factors, fill, numbers, passed
from same_weights.linear_stack import dense_former, hyper, linear, mhc_lite, peri_ln, pro_res
from same_weights.stacks import (
    FUTURE,
    IN_DECODER,
    MATRICES,
    both,
    decode,
    decoded,
    encode,
    encoded,
    initial_weights,
    stacks,
    untrained,
)
from torch import nn

from realformer_nmt.model import presets
from realformer_nmt.model.attention.heads import SoftmaxDifference
from realformer_nmt.model.attention.scores import QKNorm
from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder
from realformer_nmt.model.models.admin_profile import profile, shortcuts
from realformer_nmt.model.norms import NORMS
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.topologies.shortcuts import Trained
from realformer_nmt.model.topologies.topology import Stack

LAST_HIDDEN = torch.tensor([[False, False, False], [False, False, True]])[:, None, None]
LONGEST = 12  # the 97.5th percentile of the lengths, for the first scale of QKNorm
DIFFERENTIAL_HEADS = 4


def sides(family: str, **options: object) -> tuple[Encoder, Decoder]:
    return stacks(**(presets.FAMILIES[family] | options))


def encoder(family: str, name: str = "encoder", **options: str) -> Outputs:
    return encoded(sides(family, **options)[0], name)


def whole(family: str) -> Outputs:
    return both(*sides(family))


def initial_factors(family: str) -> Outputs:
    return factors(initial_weights(*untrained(**presets.FAMILIES[family])), initial_weights(*untrained()))


def scaled(family: str) -> Outputs:
    return initial_factors(family) | whole(family)


def admin() -> Outputs:
    model = dict(zip(("encoder", "decoder"), sides("admin"), strict=True))
    for _, shortcut in (pair for side in model.values() for pair in shortcuts(side)):
        if isinstance(shortcut, Trained):
            shortcut.delta.data.zero_()
    x = numbers("input", *SHAPE)
    profile([*model.values()], lambda: (encode(model["encoder"], x), decode(model["decoder"], x)))
    ratios = {
        f"{name}_profile": torch.stack([shortcut.weight().mean() for _, shortcut in shortcuts(side)]).detach()
        for name, side in model.items()
    }
    return ratios | both(**model)


def deepnorm() -> Outputs:
    return decoder_scales(initial_factors("deepnorm")) | whole("deepnorm")


def decoder_scales(initial: Outputs) -> Outputs:
    """Return those factors of initial weights that torchscale has as the paper has them."""
    matrices = ("out_proj", "fc1", "fc2")
    return {name: value for name, value in initial.items() if name.startswith("decoder") and name.endswith(matrices)}


def differential() -> Outputs:
    size = WIDTH // DIFFERENTIAL_HEADS
    starts = torch.tensor([SoftmaxDifference(size, layer + 1).start for layer in range(LAYERS)])
    stack, _ = sides("differential", encoder_attention_heads=DIFFERENTIAL_HEADS)
    for name, parameter in stack.named_parameters():
        if "self_attn." in name and name.endswith("bias"):
            parameter.data.zero_()
    return {"starts": starts} | encoded(stack)


def dlcl(family: str) -> Outputs:
    initial = {"initial_weights": TOPOLOGIES[family](Stack("encoder", LAYERS, LAYERS), WIDTH).weights.detach()}
    return initial | whole(family)


def ds_init() -> Outputs:
    encoder, decoder = untrained(**presets.FAMILIES["ds_init"])
    matrices = [matrix for matrix in MATRICES if matrix != "self_attn.v_proj"]
    weights = bounds("encoder", encoder.layers, *matrices) | bounds("decoder", decoder.layers, *matrices)
    return weights | by_depth(bounds("decoder", decoder.layers, *IN_DECODER))


def by_depth(initial: Outputs) -> Outputs:
    return {name: values / values[0] for name, values in initial.items()}


def dyt() -> Outputs:
    norm = NORMS[presets.FAMILIES["dyt"]["norm"]](WIDTH)
    initial = {"initial_slope": norm.slope.detach().clone(), "initial_gain": norm.weight.detach().clone()}
    return initial | passed(fill(norm))


def moda() -> Outputs:
    return encoded(sides("moda", residual_topology="pre", residual_scaling="none")[0], hidden=FUTURE)


def norm_former() -> Outputs:
    _, decoder = sides("norm_former")
    for layer in decoder.layers:
        layer.self_attn.head_output.gains.data.fill_(1)
    return decoded(decoder, "output")


def qk_norm() -> Outputs:
    initial = {"initial_scale": QKNorm(HEADS, WIDTH // HEADS, LONGEST).scale.detach()}
    return initial | whole("qk_norm")


def realformer() -> Outputs:
    """Return the sum and the mean of scores, the second sentence's end hidden, with the epsilon of their norms."""
    outputs: Outputs = {}
    for carry in ("sum", "mean"):
        stack, _ = sides("realformer", score_carry=carry, residual_scaling="none")
        for norm in (module for module in stack.modules() if isinstance(module, nn.LayerNorm)):
            norm.eps = 1e-12
        outputs |= encoded(stack, carry, LAST_HIDDEN)
    return outputs


def scale_norm() -> Outputs:
    initial = {"initial_length": NORMS[presets.FAMILIES["scale_norm"]["norm"]](WIDTH).weight.detach()}
    return initial | whole("scale_norm")


def t_fixup() -> Outputs:
    return embedding_scales(*untrained(**presets.FAMILIES["t_fixup"])) | both(*map(halved, sides("t_fixup")))


def embedding_scales(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    sides = {"encoder": encoder, "decoder": decoder}
    embeddings = {f"{name}_embedding": side.embed_tokens.weight.detach().max().view(1) for name, side in sides.items()}
    return embeddings | initial_weights(encoder, decoder)


def halved(side: nn.Module) -> nn.Module:
    """Halve all weights: without norms the numbers would grow too large to compare."""
    for parameter in side.parameters():
        parameter.data.mul_(0.5)
    return side


FAMILIES: dict[str, Callable[[], Outputs]] = {
    "admin": admin,
    "attn_res": partial(linear, "attn_res"),
    "b2t": partial(scaled, "b2t"),
    "block_attn_res": partial(linear, "block_attn_res", blocks=2),
    "deepnorm": deepnorm,
    "dense_former": dense_former,
    "delta": partial(linear, "delta"),
    "differential": differential,
    "dlcl_post": partial(dlcl, "dlcl_post"),
    "dlcl_pre": partial(dlcl, "dlcl_pre"),
    "ds_init": ds_init,
    "dyt": dyt,
    "gated_attention": partial(encoder, "gated_attention", norm="rms"),
    "gpas": partial(linear, "gpas"),
    "hybrid_norm": partial(encoder, "hybrid_norm", "output"),
    "hyper": partial(hyper, "hyper"),
    "hyper_static": partial(hyper, "hyper_static"),
    "layer_scale": partial(linear, "layer_scale", norm="layer"),
    "layernorm_scaling": partial(linear, "layernorm_scaling"),
    "mhc": partial(linear, "mhc"),
    "mhc_lite": mhc_lite,
    "mix_ln": partial(linear, "mix_ln"),
    "moda": moda,
    "norm_former": norm_former,
    "orthogonal": partial(linear, "orthogonal"),
    "peri_ln": peri_ln,
    "pro_res": pro_res,
    "qk_norm": qk_norm,
    "realformer": realformer,
    "res_post": partial(linear, "res_post", norm="layer"),
    "resi_dual": partial(whole, "resi_dual"),
    "rezero": partial(whole, "rezero"),
    "rk2": partial(encoder, "rk2"),
    "scale_norm": scale_norm,
    "siamese_norm": partial(linear, "siamese_norm", norm="layer"),
    "sub_ln": partial(scaled, "sub_ln"),
    "synthesizer": synthesizer,
    "t_fixup": t_fixup,
    "talking_heads": talking_heads,
    "value_residual": partial(encoder, "value_residual", norm="rms"),
}
