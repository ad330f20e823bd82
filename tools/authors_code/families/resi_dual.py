"""ResiDual: its whole encoder and decoder, on vectors instead of words, with the factor of its IWSLT and WMT runs."""

import sys
from pathlib import Path
from unittest.mock import patch

import torch
from fairseq.models.transformer import TransformerConfig
from same_weights.draws import SHAPE, WIDTH, Outputs, fill, passed
from same_weights.stacks import MEMORY
from tiny_models.tiny import dictionary
from torch import Tensor, nn

from authors_code.layers.fairseq_layers import options
from authors_code.record import Source

SOURCE = Source("microsoft/ResiDual", "8682f7510be105a0caf5b98a021e712f44f90ace", "resi_dual/resi_dual.py")
WORDS = torch.full(SHAPE[:2], 4)
PLAIN = {"decoder_input_dim": WIDTH, "decoder_output_dim": WIDTH}
PLAIN |= {"no_scale_embedding": True, "no_token_positional_embeddings": True}
FACTORS = ("enc_res_input_norm_scale", "dec_res_input_norm_scale", "enc_alpha", "dec_alpha")


class Fixed(nn.Embedding):
    """Embedding that returns the same vectors, whatever the words."""

    vectors: Tensor

    def forward(self, _words: Tensor) -> Tensor:
        return self.vectors


def run_code(checkout: Path) -> Outputs:
    sys.path.insert(0, str(checkout))
    with patch("fairseq.models.register_model", lambda *_, **__: lambda kind: kind):  # ours has their --arch
        from resi_dual import resi_dual as code

    cfg = TransformerConfig.from_namespace(options(**PLAIN))
    for name in FACTORS:
        setattr(cfg, name, 1.0)
    words = Fixed(5, WIDTH, padding_idx=1)
    encoder = fill(code.ResiDualEncoder(cfg, dictionary(), words))
    decoder = fill(code.ResiDualDecoder(cfg, dictionary(), words))
    memory = {"encoder_out": [MEMORY.transpose(0, 1)], "encoder_padding_mask": []}

    def encode(x: Tensor) -> Tensor:
        return encoder.forward_scriptable(WORDS, token_embeddings=x)["encoder_out"][0].transpose(0, 1)

    def decode(x: Tensor) -> Tensor:
        words.vectors = x
        return decoder.extract_features_scriptable(WORDS, memory)[0]

    return passed(encode, "encoder") | passed(decode, "decoder")
