"""T-Fixup: whole encoder and decoder, built by their own files, and their initial weights."""

from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from authors_layers.same_layers import both, stacks, untrained
from authors_layers.same_weights import WIDTH, Outputs, bounds, fill, largest_draws
from tiny_models.tiny import dictionary
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import options
from authors_code.record import Source, load

SOURCE = Source(
    "layer6ai-labs/T-Fixup", "b17e166d9f60671a92c3f39e24c9b8c93995e5a3", "fairseq/modules/transformer_layer.py"
)
MATRICES = ("self_attn.q_proj", "self_attn.v_proj", "self_attn.out_proj", "fc1", "fc2")
IN_DECODER = ("encoder_attn.q_proj", "encoder_attn.v_proj", "encoder_attn.out_proj")


OPTIONS = dict.fromkeys(("no_scale_embedding", "no_token_positional_embeddings", "dont_use_layernorm", "Tfixup"), True)
OPTIONS |= dict.fromkeys(("encoder_layerdrop", "decoder_layerdrop"), 0.0)
OPTIONS |= dict.fromkeys(("max_source_positions", "max_target_positions"), 8)
OPTIONS |= dict.fromkeys(("decoder_input_dim", "decoder_output_dim"), WIDTH)
OPTIONS |= {"share_all_embeddings": False, "share_decoder_input_output_embed": True, "tie_adaptive_weights": False}
OPTIONS |= {"adaptive_softmax_cutoff": None}


def theirs(checkout: Path) -> Outputs:
    code, cfg = model(checkout), options(**OPTIONS)
    with largest_draws():
        encoder = code.TransformerEncoder(cfg, dictionary(), code.Embedding(5, WIDTH, 1))
        decoder = code.TransformerDecoder(cfg, dictionary(), code.Embedding(5, WIDTH, 1))
    initial = scales(encoder, decoder)
    for side in (encoder, decoder):
        assert side.layer_norm is None
        side.layer_norm = nn.Identity()
    return initial | fairseq_layers.both(*(smaller(fill(side)) for side in (encoder, decoder)))


def model(checkout: Path) -> ModuleType:
    """Return their file of the model, with their layers in the place of the installed ones."""
    layers = load(checkout / SOURCE.file)
    with ExitStack() as patches:
        for name in ("register_model", "register_model_architecture"):
            patches.enter_context(patch(f"fairseq.models.{name}", lambda *_: lambda kind: kind))
        for name in ("TransformerEncoderLayer", "TransformerDecoderLayer"):
            patches.enter_context(patch(f"fairseq.modules.{name}", getattr(layers, name)))
        return load(checkout / "fairseq/models/transformer.py", "authors_model")


def scales(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    embeddings = {
        f"{name}_embedding": side.embed_tokens.weight.detach().max().view(1)
        for name, side in (("encoder", encoder), ("decoder", decoder))
    }
    matrices = bounds("encoder", encoder.layers, *MATRICES) | bounds("decoder", decoder.layers, *MATRICES, *IN_DECODER)
    return embeddings | matrices


def smaller(side: nn.Module) -> nn.Module:
    """Halve all weights: without norms the numbers would grow too large to compare."""
    for parameter in side.parameters():
        parameter.data.mul_(0.5)
    return side


def ours() -> Outputs:
    scaled = {"residual_topology": "no_norm", "residual_scaling": "t_fixup"}
    return scales(*untrained(**scaled)) | both(*(smaller(side) for side in stacks(**scaled)))
