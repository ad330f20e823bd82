"""Models with one side, on fairseq's base classes: an encoder without decoder, a decoder without encoder.

Neither is registered with fairseq: their subclasses are, under a name and with options.
"""

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoderModel, FairseqLanguageModel
from torch import Tensor

from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder, DecoderOut
from realformer_nmt.model.encoder import Encoder, EncoderOut
from realformer_nmt.model.models.model import embedding
from realformer_nmt.model.models.profiled_model import ProfiledModel
from realformer_nmt.model.topologies.topology import Stack


class EncoderAlone(ProfiledModel, FairseqEncoderModel):
    """Encoder without decoder; its output is in the order of its input, with left padding too."""

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "EncoderAlone":
        validate(cfg, ["encoder"])
        words = embedding(cfg, dictionary, Stack("encoder", cfg.encoder_layers, 0))
        return cls(Encoder(cfg, dictionary, words, no_decoder=True))

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> EncoderOut:
        self.profile_once(lambda: self.encoder(src_tokens))
        encoder_out: EncoderOut = self.encoder(src_tokens, src_lengths)
        return encoder_out.in_source_order()


class DecoderAlone(ProfiledModel, FairseqLanguageModel):
    """Decoder without encoder; its input is the sentence up to the token that it predicts."""

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "DecoderAlone":
        validate(cfg, ["decoder"])
        words = embedding(cfg, dictionary, Stack("decoder", 0, cfg.decoder_layers))
        model = cls(Decoder(cfg, dictionary, words, no_encoder_attn=True))
        model.decoding_precision = cfg.decoding_precision
        return model

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None, **options: Any) -> DecoderOut:
        del src_lengths  # as in the encoder
        self.profile_once(lambda: self.decoder(src_tokens, features_only=True, mask_padding=True))
        output: DecoderOut = self.decoder(src_tokens, **options)
        return output
