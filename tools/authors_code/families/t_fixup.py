"""T-Fixup: whole encoder and decoder, built by their own files, and their initial weights."""

from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from same_weights.draws import WIDTH, Outputs, fill, largest_draws
from same_weights.families import embedding_scales, halved
from tiny_models.tiny import dictionary
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import options
from authors_code.record import Source, load

SOURCE = Source(
    "layer6ai-labs/T-Fixup", "b17e166d9f60671a92c3f39e24c9b8c93995e5a3", "fairseq/modules/transformer_layer.py"
)
OPTIONS: dict[str, object] = dict.fromkeys(
    ("no_scale_embedding", "no_token_positional_embeddings", "dont_use_layernorm", "Tfixup"), True
)
OPTIONS |= dict.fromkeys(("encoder_layerdrop", "decoder_layerdrop"), 0.0)
OPTIONS |= dict.fromkeys(("max_source_positions", "max_target_positions"), 8)
OPTIONS |= dict.fromkeys(("decoder_input_dim", "decoder_output_dim"), WIDTH)
OPTIONS |= {"share_all_embeddings": False, "share_decoder_input_output_embed": True, "tie_adaptive_weights": False}
OPTIONS |= {"adaptive_softmax_cutoff": None}


def run_code(checkout: Path) -> Outputs:
    code, cfg = model(checkout), options(**OPTIONS)
    with largest_draws():
        encoder = code.TransformerEncoder(cfg, dictionary(), code.Embedding(5, WIDTH, 1))
        decoder = code.TransformerDecoder(cfg, dictionary(), code.Embedding(5, WIDTH, 1))
    initial = embedding_scales(encoder, decoder)
    for side in (encoder, decoder):
        assert side.layer_norm is None
        side.layer_norm = nn.Identity()
    return initial | fairseq_layers.both(*(halved(fill(side)) for side in (encoder, decoder)))


def model(checkout: Path) -> ModuleType:
    """Return their file of the model, with their layers in the place of the installed ones."""
    layers = load(checkout / SOURCE.file)
    with ExitStack() as patches:
        for name in ("register_model", "register_model_architecture"):
            patches.enter_context(patch(f"fairseq.models.{name}", lambda *_: lambda kind: kind))
        for name in ("TransformerEncoderLayer", "TransformerDecoderLayer"):
            patches.enter_context(patch(f"fairseq.modules.{name}", getattr(layers, name)))
        return load(checkout / "fairseq/models/transformer.py", "authors_model")
