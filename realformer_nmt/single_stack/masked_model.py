"""Masked language models (BERT, RoBERTa): a single encoder with a head for each task.

The heads for masked_lm and sentence_prediction are fairseq's.
"""

from argparse import ArgumentParser, Namespace
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from fairseq import hub_utils, utils
from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.roberta import RobertaEncoder, RobertaHubInterface, RobertaModel
from fairseq.models.roberta.model import base_architecture
from omegaconf import OmegaConf
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.kernels.activations import activation
from realformer_nmt.model.config import TranslationConfig, model_option, validate
from realformer_nmt.model.encoder import Encoder, EncoderOut
from realformer_nmt.model.models.model import read_options
from realformer_nmt.model.models.profiled_model import ProfiledModel
from realformer_nmt.model.presets import KINDS
from realformer_nmt.model.scaling import Gains
from realformer_nmt.single_stack.single_stack import check_room, of_side

HEADS_TOO = {"load_checkpoint_heads": True}
DECODERS_OWN = ("decoding_precision", "share_decoder_input_output_embed")
SPANS = "span_head."
ACTIVATIONS = utils.get_available_activation_fns()


OF_HEADS = {
    "max_positions": (int, model_option(512, "longest text, in tokens")),
    "pooler_activation_fn": (str, model_option("tanh", f"of a classification head: one of {', '.join(ACTIVATIONS)}")),
    "pooler_dropout": (float, model_option(0.0, "dropout of a classification head")),
    "untie_weights_roberta": (bool, model_option(False, "a matrix of its own for the predicted words")),
    "load_checkpoint_heads": (bool, model_option(False, "build the classification heads that a checkpoint has")),
}


class SpanHead(nn.Linear):
    """Logits of the answer's start and end for each position (Devlin et al. 2019, section 4.2).

    An answer lies in the context; the first position stands for no answer.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width, 2)
        nn.init.normal_(self.weight, std=0.02)
        nn.init.zeros_(self.bias)

    def logits(self, features: Tensor, lengths: Tensor, context: Tensor) -> Tensor:
        """Return the logits, B x T x 2, of features B x T x C; a context is from `context` to before </s>."""
        indices = torch.arange(features.size(1), device=features.device)
        within = (indices >= context[:, None]) & (indices < lengths[:, None] - 1)
        possible = within | (indices == 0)
        logits: Tensor = self(features)  # B x T x 2
        return logits.float().masked_fill(~possible[..., None], -torch.inf)


class SentenceEncoder(Encoder):
    """Encoder that takes the place of the TransformerEncoder in fairseq's RoBERTa."""

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
        """Return the longest text, for a Synthesizer no longer than its tables."""
        return int(self.sentence_encoder.max_positions())


@register_model(KINDS["bert"].model, dataclass=of_side("MaskedConfig", "encoder", DECODERS_OWN, OF_HEADS))
class MaskedModel(ProfiledModel, RobertaModel):
    """p(masked word | the words around it).

    Weights start as BERT's, N(0, 0.02) (Devlin et al. 2019, appendix A.2); the layers of a scaling that has its own
    gains in any of them (DeepNorm) keep the weights that these gave.
    """

    def __init__(self, args: Namespace, encoder: MaskedEncoder) -> None:
        layers = list(encoder.sentence_encoder.layers)
        scaled = layers if any(layer.gains != Gains() for layer in layers) else []
        initial = [deepcopy(layer.state_dict()) for layer in scaled]
        super().__init__(args, encoder)
        self.span_head: SpanHead | None = None
        for layer, state in zip(scaled, initial, strict=True):
            layer.load_state_dict(state)

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Add the options of the dataclass; RobertaModel's method would add only its own."""
        super(RobertaModel, cls).add_args(parser)

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "MaskedModel":
        options: Any = OmegaConf.to_container(cfg) if OmegaConf.is_config(cfg) else vars(cfg)
        args = Namespace(**options)
        choose("--pooler-activation-fn", args.pooler_activation_fn, dict.fromkeys(ACTIVATIONS))
        base_architecture(args)  # adds the defaults that its heads read
        encoder = MaskedEncoder(args, task.source_dictionary)
        encoder.lm_head.activation_fn = activation(args.activation_fn)
        check_room(encoder.max_positions(), getattr(task.cfg, "tokens_per_sample", 0), "--max-positions")
        return cls(args, encoder)

    @classmethod
    def from_pretrained(
        cls, folder: str, checkpoint_file: str = "model.pt", data_name_or_path: str = ".", **options: Any
    ) -> RobertaHubInterface:
        """Load a model without fairseq's default of GPT-2's BPE, which would be downloaded."""
        loaded = hub_utils.from_pretrained(folder, checkpoint_file, data_name_or_path, **{**HEADS_TOO, **options})
        return RobertaHubInterface(loaded["args"], loaded["task"], loaded["models"][0])

    def forward(self, src_tokens: Tensor, *args: Any, context: Tensor | None = None, **options: Any) -> Any:
        """Return fairseq's output, or with `context`, the start of each text's context, the logits of spans."""
        self.profile_once(lambda: self.encoder(src_tokens, features_only=True))
        if context is None or self.span_head is None:
            return super().forward(src_tokens, *args, **options)
        features, _ = super().forward(src_tokens, features_only=True)
        return self.span_head.logits(features, options["src_lengths"], context)

    def add_span_head(self) -> None:
        self.span_head = SpanHead(self.args.encoder_embed_dim)

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Adapt a checkpoint to this model's span head, as fairseq does for classification heads.

        A checkpoint without the head gets the initial one; one that the model does not have is dropped.
        """
        super().upgrade_state_dict_named(state_dict, name)
        prefix = f"{name}.{SPANS}" if name else SPANS
        span_keys = [key for key in state_dict if key.startswith(prefix)]
        if span_keys and self.span_head is None and getattr(self.args, "load_checkpoint_heads", False):
            self.add_span_head()
        initial = {} if self.span_head is None else self.span_head.state_dict(prefix=prefix)
        for key in span_keys:
            if key not in initial:
                del state_dict[key]
        state_dict.update({key: weight for key, weight in initial.items() if key not in state_dict})
