"""Models of one side alone, on fairseq's base classes: an encoder without decoder, a decoder without encoder.

Neither is registered with fairseq: who trains one gives it a name and options.
"""

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoderModel, FairseqLanguageModel
from torch import Tensor

from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder, EncoderOut
from realformer_nmt.model.model import embedding
from realformer_nmt.model.profiled_model import ProfiledModel


class EncoderAlone(ProfiledModel, FairseqEncoderModel):
    """What comes out stands where its words stand, also behind padding."""

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "EncoderAlone":
        validate(cfg, ["encoder"])
        return cls(Encoder(cfg, dictionary, embedding(dictionary, cfg.encoder_embed_dim), no_decoder=True))

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> EncoderOut:
        self.profile_once(lambda: self.encoder(src_tokens))
        return self.encoder(src_tokens, src_lengths).in_source_order()


class DecoderAlone(ProfiledModel, FairseqLanguageModel):
    """Its input is the sentence up to the word that it predicts."""

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "DecoderAlone":
        validate(cfg, ["decoder"])
        model = cls(Decoder(cfg, dictionary, embedding(dictionary, cfg.decoder_embed_dim), no_encoder_attn=True))
        model.decoding_precision = cfg.decoding_precision
        return model

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor | None = None, **options: Any
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        del src_lengths  # as in the encoder
        self.profile_once(lambda: self.decoder(src_tokens, features_only=True, mask_padding=True))
        return self.decoder(src_tokens, **options)
