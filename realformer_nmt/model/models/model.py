"""The translation model on fairseq's base class, built from options and profiled on its first batch."""

from dataclasses import fields
from typing import Any, TypeVar

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoderDecoderModel, register_model
from omegaconf import DictConfig
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.decoder import Decoder, DecoderOut
from realformer_nmt.model.encoder import Encoder
from realformer_nmt.model.models.profiled_model import ProfiledModel
from realformer_nmt.model.part_names import with_heads
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.topology import Stack

MODEL = "realformer_nmt"
Config = TypeVar("Config", bound=TranslationConfig)


@register_model(MODEL, dataclass=TranslationConfig)
class TranslationModel(ProfiledModel, FairseqEncoderDecoderModel):
    """Translation model of every architecture; they differ in their configuration alone (presets.py)."""

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "TranslationModel":
        cfg = read_options(TranslationConfig, cfg)
        validate(cfg)
        refuse_left_padded_targets(task)
        source, target = task.source_dictionary, task.target_dictionary
        source_embedding = embedding(cfg, source, Stack("encoder", cfg.encoder_layers, cfg.decoder_layers))
        if cfg.share_all_embeddings:
            if source != target:
                raise OptionError(
                    f"--share-all-embeddings needs a joined dictionary, these have {len(source)} and {len(target)} "
                    "entries: binarise with fairseq-preprocess --joined-dictionary"
                )
            target_embedding = source_embedding
        else:
            target_embedding = embedding(cfg, target, Stack("decoder", cfg.encoder_layers, cfg.decoder_layers))
        model = cls(Encoder(cfg, source, source_embedding), Decoder(cfg, target, target_embedding))
        model.decoding_precision = cfg.decoding_precision
        return model

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor, features_only: bool = False
    ) -> DecoderOut:
        self.profile_once(lambda: self._run_as_stock(src_tokens, prev_output_tokens))
        encoder_out = self.encoder(src_tokens, src_lengths)
        output: DecoderOut = self.decoder(prev_output_tokens, encoder_out, features_only=features_only)
        return output

    def _run_as_stock(self, src_tokens: Tensor, prev_output_tokens: Tensor) -> None:
        self.decoder(prev_output_tokens, self.encoder(src_tokens), features_only=True, mask_padding=True)


def read_options(kind: type[Config], options: Any) -> Config:
    """Return the options of a model of this kind, out of fairseq's configuration: hydra's or a namespace."""
    values = with_heads(options if isinstance(options, DictConfig) else vars(options))
    names = [field.name for field in fields(kind) if not field.name.startswith("_")]
    return kind(**{name: values[name] for name in names if name in values})


def embedding(cfg: TranslationConfig, dictionary: Dictionary, stack: Stack) -> nn.Embedding:
    """Return the table of words that a stack reads, with the initial weights of its residual scaling."""
    width = getattr(cfg, f"{stack.name}_embed_dim")
    embedding = nn.Embedding(len(dictionary), width, padding_idx=dictionary.pad())
    nn.init.normal_(embedding.weight, std=SCALINGS[cfg.residual_scaling](stack).embedding * width**-0.5)
    nn.init.zeros_(embedding.weight[dictionary.pad()])
    return embedding


def refuse_left_padded_targets(task: Any) -> None:
    options = getattr(task, "cfg", None) or getattr(task, "args", None)
    if str(getattr(options, "left_pad_target", False)) == "True":  # a flag in some tasks, a text in others
        raise OptionError(
            "--left-pad-target is not supported: leave it out, or pass False where the task wants a value"
        )
