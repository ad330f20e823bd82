"""A decoder without encoder, and the options of models with one side: those of a translation model that do not concern
the other one.
"""

from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass
from typing import Any

from fairseq.data import Dictionary
from fairseq.dataclass import FairseqDataclass
from fairseq.models import FairseqLanguageModel
from torch import Tensor

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import SIDES, TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder, DecoderOut
from realformer_nmt.model.models.model import embedding
from realformer_nmt.model.models.profiled_model import ProfiledModel
from realformer_nmt.model.topologies.topology import Stack

OF_TWO_SIDES = ("share_all_embeddings", "carry_embeddings", "max_source_positions", "max_target_positions")


class DecoderAlone(ProfiledModel, FairseqLanguageModel):
    """Decoder without encoder; its input is the sentence up to the token that it predicts."""

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "DecoderAlone":
        validate(cfg, ["decoder"])
        words = embedding(cfg, dictionary, Stack("decoder", 0, cfg.decoder_layers))
        model = cls(Decoder(cfg, dictionary, words, no_encoder_attn=True))
        model.decoding_precision = cfg.decoding_precision
        return model

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor | None = None, features_only: bool = False, **options: Any
    ) -> DecoderOut:
        del src_lengths  # as in the encoder
        self.profile_once(lambda: self.decoder(src_tokens, features_only=True, mask_padding=True))
        output: DecoderOut = self.decoder(src_tokens, features_only=features_only, **options)
        return output


def of_side(name: str, side: str, without: tuple[str, ...], added: Mapping[str, tuple[Any, Any]]) -> type:
    """Return a dataclass for fairseq; `added` are further options, each a type and a default or field."""
    (other,) = set(SIDES) - {side}
    excluded = {"_name", *OF_TWO_SIDES, *without}
    shared = [
        (option.name, option.type, field(default=option.default, metadata=option.metadata))
        for option in fields(TranslationConfig)
        if option.name not in excluded and not option.name.startswith(f"{other}_")
    ]
    further = [(option, kind, default) for option, (kind, default) in added.items()]
    return make_dataclass(name, [*shared, *further], bases=(FairseqDataclass,))


def check_room(positions: int, tokens: int, option: str) -> None:
    if tokens > positions:
        raise OptionError(
            f"--tokens-per-sample {tokens} is more than the {positions} positions of the model: pass fewer, or more by "
            f"{option} (and --score-length, with a Synthesizer)"
        )
