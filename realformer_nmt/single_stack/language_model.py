"""Language models: a decoder alone, for fairseq's task language_modeling."""

from dataclasses import fields, replace
from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqLanguageModel, register_model
from fairseq.models.transformer_lm import TransformerLanguageModelConfig
from torch import Tensor

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder, DecoderOut
from realformer_nmt.model.models.model import embedding, read_options
from realformer_nmt.model.models.profiled_model import ProfiledModel
from realformer_nmt.model.presets import KINDS
from realformer_nmt.model.topologies.topology import Stack
from realformer_nmt.single_stack.single_stack import check_room, of_side

READ_FROM_TASK = ("tokens_per_sample", "max_target_positions")  # as in fairseq's transformer_lm
OF_TASK = {option.name: (option.type, option.default) for option in fields(TransformerLanguageModelConfig)}


@register_model(
    KINDS["lm"].model,
    dataclass=of_side("LanguageConfig", "decoder", (), {name: OF_TASK[name] for name in READ_FROM_TASK}),
)
class LanguageModel(ProfiledModel, FairseqLanguageModel):
    """p(word | the words before it), for texts up to --max-target-positions, by default the task's sample size."""

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "LanguageModel":
        words, predicted = task.source_dictionary, task.target_dictionary
        if len(words) != len(predicted):
            raise OptionError(
                f"--output-dictionary-size {len(predicted)} is not supported: leave it out, or binarise with "
                f"fairseq-preprocess --nwordssrc {len(predicted)}"
            )
        longest = getattr(cfg, "max_target_positions", None) or cfg.tokens_per_sample
        model = cls.build(replace(read_options(TranslationConfig, cfg), max_target_positions=longest), words)
        check_room(model.max_positions(), cfg.tokens_per_sample, "--max-target-positions")
        return model

    @classmethod
    def build(cls, cfg: TranslationConfig, dictionary: Dictionary) -> "LanguageModel":
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
