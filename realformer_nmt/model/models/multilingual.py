"""The model of fairseq's task multilingual_translation: an encoder per source language, a decoder per target language.

fairseq's tasks translation_multi_simple_epoch and translation train one TranslationModel on every direction instead.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import FairseqMultiModel, register_model
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError, UserError
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder
from realformer_nmt.model.models.decoding_model import DecodingModel
from realformer_nmt.model.models.model import TranslationModel, embedding, read_options, refuse_left_padded_targets
from realformer_nmt.model.topologies.topology import Stack
from realformer_nmt.model.weights import checked

MODEL = "multilingual_realformer_nmt"
Part = TypeVar("Part", bound=nn.Module)


@dataclass
class MultilingualConfig(TranslationConfig):
    share_encoder_embeddings: bool = field(default=False, metadata={"help": "one matrix for all source languages"})
    share_decoder_embeddings: bool = field(default=False, metadata={"help": "one matrix for all target languages"})
    share_encoders: bool = field(default=False, metadata={"help": "one encoder for all source languages"})
    share_decoders: bool = field(default=False, metadata={"help": "one decoder for all target languages"})


class Parts:
    """Embeddings, encoders and decoders, each built once for all languages that share it."""

    def __init__(self, cfg: MultilingualConfig, dictionaries: dict[str, Dictionary]) -> None:
        self.cfg, self.dictionaries = cfg, dictionaries
        self.built: dict[tuple[str, ...], tuple[Any, Dictionary]] = {}

    def encoder(self, language: str) -> Encoder:
        words = self.embedding("encoder", language, self.cfg.share_encoder_embeddings or self.cfg.share_encoders)
        name = ("encoder",) if self.cfg.share_encoders else ("encoder", language)
        return self.once(name, language, lambda: Encoder(self.cfg, self.dictionaries[language], words))

    def decoder(self, language: str) -> Decoder:
        words = self.embedding("decoder", language, self.cfg.share_decoder_embeddings or self.cfg.share_decoders)
        name = ("decoder",) if self.cfg.share_decoders else ("decoder", language)
        return self.once(name, language, lambda: Decoder(self.cfg, self.dictionaries[language], words))

    def embedding(self, side: str, language: str, shared: bool) -> nn.Embedding:
        name = ("embedding",) if self.cfg.share_all_embeddings else ("embedding", side, *([] if shared else [language]))
        stack = Stack(side, self.cfg.encoder_layers, self.cfg.decoder_layers)
        return self.once(name, language, lambda: embedding(self.cfg, self.dictionaries[language], stack))

    def once(self, name: tuple[str, ...], language: str, make: Callable[[], Part]) -> Part:
        dictionary = self.dictionaries[language]
        if name not in self.built:
            self.built[name] = make(), dictionary
        part: Part
        part, built_for = self.built[name]
        if built_for != dictionary:
            raise OptionError(
                f"languages that share their {name[0]} need one dictionary, but that of {language} has "
                f"{len(dictionary)} entries and another {len(built_for)}: binarise every pair with the same one "
                "(fairseq-preprocess --srcdict FILE --tgtdict FILE), or do not share"
            )
        return part


@register_model(MODEL)  # without the dataclass: the task reads its options from the model's parser
class MultilingualModel(DecodingModel, FairseqMultiModel):
    """Model with one TranslationModel per language pair, which may share parts."""

    def __init__(self, models: dict[str, TranslationModel]) -> None:
        encoders = {pair: model.encoder for pair, model in models.items()}
        decoders = {pair: model.decoder for pair, model in models.items()}
        super().__init__(encoders, decoders)
        self.models = nn.ModuleDict(models)  # they take ADMIN's profile; the base class's models do not

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        gen_parser_from_dataclass(parser, MultilingualConfig(), delete_default=True)

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "MultilingualModel":
        cfg = read_options(MultilingualConfig, cfg)
        validate(cfg)
        refuse_left_padded_targets(task)
        if not hasattr(task, "model_lang_pairs"):
            raise UserError("a multilingual architecture needs --task multilingual_translation with --lang-pairs")
        parts = Parts(cfg, task.dicts)
        languages = {pair: pair.split("-") for pair in task.model_lang_pairs}
        model = cls(
            {pair: TranslationModel(parts.encoder(src), parts.decoder(tgt)) for pair, (src, tgt) in languages.items()}
        )
        model.decoding_precision = cfg.decoding_precision
        return model

    def load_state_dict(self, state_dict: dict[str, Tensor], strict: bool = True, model_cfg: Any = None) -> Any:
        """Load the weights of this model's pairs; for translation it is built with one of a checkpoint's pairs."""
        selected = {name: weight for name, weight in state_dict.items() if name.split(".")[1] in self.models}
        with checked(self, selected):
            return super().load_state_dict(selected, strict, model_cfg)
