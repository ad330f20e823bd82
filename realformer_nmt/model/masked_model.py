"""Masked language models (BERT, RoBERTa): an encoder alone behind fairseq's heads, for the tasks masked_lm and
sentence_prediction, and behind a head for spans, for question_answering."""

from argparse import ArgumentParser, Namespace
from copy import deepcopy
from dataclasses import field, replace
from typing import Any

from fairseq import hub_utils, utils
from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.roberta import RobertaEncoder, RobertaHubInterface, RobertaModel
from fairseq.models.roberta.model import base_architecture
from omegaconf import OmegaConf
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.option_choice import choose
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.encoder import Encoder, EncoderOut
from realformer_nmt.model.model import read_options
from realformer_nmt.model.presets import KINDS
from realformer_nmt.model.profiled_model import ProfiledModel
from realformer_nmt.model.scaling import Gains
from realformer_nmt.model.single_stack_options import check_room, of_side
from realformer_nmt.model.span_head import SpanHead

HEADS_TOO = {"load_checkpoint_heads": True}
DECODERS_OWN = ("decoding_precision", "share_decoder_input_output_embed")
SPANS = "span_head."
ACTIVATIONS = utils.get_available_activation_fns()


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


OF_HEADS = {
    "max_positions": (int, _option(512, "longest text, in tokens")),
    "pooler_activation_fn": (str, _option("tanh", f"of a classification head: one of {', '.join(ACTIVATIONS)}")),
    "pooler_dropout": (float, _option(0.0, "dropout of a classification head")),
    "untie_weights_roberta": (bool, _option(False, "a matrix of its own for the predicted words")),
    "load_checkpoint_heads": (bool, _option(False, "build the classification heads that a checkpoint has")),
}


class SentenceEncoder(Encoder):
    """Where fairseq's RoBERTa has a TransformerEncoder."""

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        return_all_hiddens: bool = False,
        token_embeddings: Tensor | None = None,
    ) -> EncoderOut:
        if return_all_hiddens or token_embeddings is not None:
            raise OptionError("return_all_hiddens and token_embeddings are not supported: leave them out")
        return super().forward(src_tokens, src_lengths).in_source_order()


class MaskedEncoder(RobertaEncoder):
    def build_encoder(self, args: Namespace, dictionary: Dictionary, embed_tokens: nn.Embedding) -> SentenceEncoder:
        cfg = replace(read_options(TranslationConfig, args), max_source_positions=args.max_positions)
        validate(cfg, ["encoder"])
        return SentenceEncoder(cfg, dictionary, embed_tokens, no_decoder=True)

    def max_positions(self) -> int:
        """Of a Synthesizer no more than its tables have."""
        return self.sentence_encoder.max_positions()


@register_model(KINDS["bert"].model, dataclass=of_side("MaskedConfig", "encoder", DECODERS_OWN, OF_HEADS))
class MaskedModel(ProfiledModel, RobertaModel):
    """p(masked word | the words around it). It begins as BERT does, N(0, 0.02) (Devlin et al. 2019, appendix A.2); a
    scaling with gains of its own (DeepNorm) keeps them in its layers."""

    def __init__(self, args: Namespace, encoder: MaskedEncoder) -> None:
        scaled = [layer for layer in encoder.sentence_encoder.layers if layer.gains != Gains()]
        begun = [deepcopy(layer.state_dict()) for layer in scaled]
        super().__init__(args, encoder)
        self.span_head: SpanHead | None = None
        for layer, state in zip(scaled, begun, strict=True):
            layer.load_state_dict(state)

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """RobertaModel's has its own options alone, in the place of the dataclass."""
        super(RobertaModel, cls).add_args(parser)

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "MaskedModel":
        held: Any = OmegaConf.to_container(cfg) if OmegaConf.is_config(cfg) else vars(cfg)
        args = Namespace(**held)
        choose("--pooler-activation-fn", args.pooler_activation_fn, dict.fromkeys(ACTIVATIONS))
        base_architecture(args)  # what its heads ask for, beside our options
        encoder = MaskedEncoder(args, task.source_dictionary)
        check_room(encoder.max_positions(), getattr(task.cfg, "tokens_per_sample", 0), "--max-positions")
        return cls(args, encoder)

    @classmethod
    def from_pretrained(
        cls, folder: str, checkpoint_file: str = "model.pt", data_name_or_path: str = ".", **options: Any
    ) -> RobertaHubInterface:
        """RobertaModel's has GPT-2's BPE for a default, which fairseq then fetches."""
        found = hub_utils.from_pretrained(folder, checkpoint_file, data_name_or_path, **{**HEADS_TOO, **options})
        return RobertaHubInterface(found["args"], found["task"], found["models"][0])

    def forward(self, src_tokens: Tensor, *args: Any, context: Tensor | None = None, **options: Any) -> Any:
        """Where `context` says where a text's context begins, the logits of spans."""
        self.profile_once(lambda: self.encoder(src_tokens, features_only=True))
        if context is None or self.span_head is None:
            return super().forward(src_tokens, *args, **options)
        features, _ = super().forward(src_tokens, features_only=True)
        return self.span_head.logits(features, options["src_lengths"], context)

    def add_span_head(self) -> None:
        self.span_head = SpanHead(self.args.encoder_embed_dim)

    def upgrade_state_dict_named(self, state_dict: dict[str, Any], name: str) -> None:
        """The head for spans begins anew where a checkpoint has none, and is left out where the task has none, as
        heads for classes are."""
        super().upgrade_state_dict_named(state_dict, name)
        prefix = f"{name}.{SPANS}" if name else SPANS
        theirs = [key for key in state_dict if key.startswith(prefix)]
        if theirs and self.span_head is None and getattr(self.args, "load_checkpoint_heads", False):
            self.add_span_head()
        own = {} if self.span_head is None else self.span_head.state_dict(prefix=prefix)
        for key in theirs:
            if key not in own:
                del state_dict[key]
        state_dict.update({key: weight for key, weight in own.items() if key not in state_dict})
