"""Encoder, decoder and model, on fairseq's base classes."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder, FairseqEncoderDecoderModel, FairseqIncrementalDecoder, register_model
from fairseq.modules import PositionalEmbedding
from omegaconf import DictConfig
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from realformer_nmt.admin_profile import is_pending, profile
from realformer_nmt.config import TranslationConfig, validate
from realformer_nmt.decoding import Decoding, sentences_of, unchanged
from realformer_nmt.dropout import Dropout
from realformer_nmt.errors import OptionError
from realformer_nmt.layers import Caches, DecoderLayer, EncoderLayer, Layer, Totals
from realformer_nmt.linear import Linear
from realformer_nmt.residual import TOPOLOGIES
from realformer_nmt.scores import longest
from realformer_nmt.weights import demand_finite, told_in_one_line

MODEL = "realformer_nmt"
Config = TypeVar("Config", bound=TranslationConfig)


class EncoderOut(dict[str, list[Tensor]]):
    """Of each sentence once, however many beams it has in the decoder."""

    beams = 1


class Side(nn.Module):
    """What encoder and decoder share: embeddings, and the stack of layers."""

    def add_stack(
        self, cfg: TranslationConfig, dictionary: Dictionary, embed_tokens: nn.Embedding, layer: type[Layer], limit: int
    ) -> None:
        width = embed_tokens.embedding_dim
        self.padding_idx: int = dictionary.pad()
        self.register_buffer("version", torch.tensor([3.0]))  # stock checkpoints hold one
        self.embed_tokens = embed_tokens
        self.embed_scale = 1.0 if cfg.no_scale_embedding else math.sqrt(width)
        self.embed_positions = None
        if not cfg.no_token_positional_embeddings:
            learned = getattr(cfg, f"{layer.side}_learned_pos")
            self.embed_positions = PositionalEmbedding(limit, width, self.padding_idx, learned=learned)
        self.layernorm_embedding = nn.LayerNorm(width) if cfg.layernorm_embedding else nn.Identity()
        self.dropout_module = Dropout(cfg.dropout, module_name=type(self).__name__)
        self.checkpoint_activations = cfg.checkpoint_activations
        self.topology = TOPOLOGIES[cfg.residual_topology]
        self.layers = nn.ModuleList(layer(cfg, depth) for depth in range(1, getattr(cfg, f"{layer.side}_layers") + 1))
        self.layer_norm = self.topology.final_norm(width)
        self.limit: int = min(limit, longest(cfg.score_source, cfg.score_length) or limit)

    def embed(self, tokens: Tensor, positions: Tensor | None) -> Tensor:
        x = self.embed_scale * self.embed_tokens(tokens)  # B x T x C
        if positions is not None:
            x = x + positions
        return self.dropout_module(self.layernorm_embedding(x))

    def run(self, layer: nn.Module, *state: Any) -> Any:
        if self.checkpoint_activations and torch.is_grad_enabled():
            return checkpoint(layer, *state, use_reentrant=False)
        return layer(*state)

    def max_positions(self) -> int:
        return self.limit


class Encoder(Side, FairseqEncoder):
    """Tokens are turned to right padding first, so that position i of a sentence is column i of every score table."""

    def __init__(self, cfg: TranslationConfig, dictionary: Dictionary, embed_tokens: nn.Embedding) -> None:
        super().__init__(dictionary)
        self.add_stack(cfg, dictionary, embed_tokens, EncoderLayer, cfg.max_source_positions)

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> EncoderOut:
        del src_lengths  # the padding says as much
        leading = src_tokens.eq(self.padding_idx).cumprod(1).sum(1, keepdim=True)  # B x 1
        tokens = src_tokens.gather(1, _rotation(leading, src_tokens.size(1)))
        padding = tokens.eq(self.padding_idx)
        x = self.embed(tokens, self.embed_positions(tokens) if self.embed_positions else None)
        stream = self.topology.enter(x.masked_fill(padding.unsqueeze(-1), 0))
        total = None
        for layer in self.layers:
            stream, total = self.run(layer, stream, padding[:, None, None], total)
        x = self.topology.leave(stream, self.layer_norm)
        return EncoderOut(
            encoder_out=[x.transpose(0, 1)],  # S x B x C, fairseq's order
            encoder_padding_mask=[padding],  # B x S
            leading_padding=[leading],
        )

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        order, beams = sentences_of(new_order.tolist(), encoder_out.beams)
        same, dimensions = unchanged(order, len(encoder_out["leading_padding"][0])), {"encoder_out": 1}
        kept = torch.tensor(order, device=new_order.device)
        reordered = EncoderOut(
            (name, values if same else [value.index_select(dimensions.get(name, 0), kept) for value in values])
            for name, values in encoder_out.items()
        )
        reordered.beams = beams
        return reordered


class Decoder(Side, FairseqIncrementalDecoder):
    def __init__(self, cfg: TranslationConfig, dictionary: Dictionary, embed_tokens: nn.Embedding) -> None:
        super().__init__(dictionary)
        self.add_stack(cfg, dictionary, embed_tokens, DecoderLayer, cfg.max_target_positions)
        self.need_attn = True
        if cfg.share_decoder_input_output_embed or cfg.share_all_embeddings:
            vocabulary, width = embed_tokens.weight.shape
            self.output_projection = Linear(width, vocabulary, bias=False)
            self.output_projection.weight = embed_tokens.weight
        else:
            self.output_projection = Linear(cfg.decoder_embed_dim, len(dictionary), bias=False)
            nn.init.normal_(self.output_projection.weight, std=cfg.decoder_embed_dim**-0.5)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut,
        incremental_state: dict[str, Decoding] | None = None,
        features_only: bool = False,
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        x, extra = self.extract_features(prev_output_tokens, encoder_out, incremental_state)
        return (x if features_only else self.output_layer(x)), extra

    def extract_features(
        self, prev_output_tokens: Tensor, encoder_out: EncoderOut, incremental_state: dict[str, Decoding] | None = None
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        tokens, memory = prev_output_tokens, encoder_out["encoder_out"][0].transpose(0, 1)  # memory is B x S x C
        positions = self.embed_positions(tokens, incremental_state=incremental_state) if self.embed_positions else None
        if incremental_state is not None:
            tokens = tokens[:, -1:]
        caches, mask, beams = self._begin(incremental_state, tokens, len(memory))
        masks = (mask, encoder_out["encoder_padding_mask"][0][:, None, None])
        x = self.embed(tokens, positions)
        stream = self.topology.enter(x.view(len(x) // beams, -1, x.size(-1)))  # in beam search B x beams x C
        totals: Totals = (None, None)
        wanted = self.need_attn and not self.training  # the last layer's attention
        for layer, cache in zip(self.layers, caches, strict=True):
            weights = wanted and layer is self.layers[-1]
            stream, totals, attn = self.run(layer, stream, memory, masks, totals, cache, weights)
        x = self.topology.leave(stream, self.layer_norm).view(x.shape)
        if wanted:
            attn = self._in_source_order(attn, encoder_out).view(*x.shape[:2], -1)  # rows x T x S
        return x, {"attn": [attn if wanted else None]}

    def output_layer(self, features: Tensor) -> Tensor:
        return self.output_projection(features)  # B x T x V

    def reorder_incremental_state_scripting(self, incremental_state: dict[str, Decoding], new_order: Tensor) -> None:
        """fairseq's asks every module there is, at every step."""
        self.reorder_incremental_state(incremental_state, new_order)

    def reorder_incremental_state(self, incremental_state: dict[str, Decoding], new_order: Tensor) -> None:
        for decoding in incremental_state.values():
            decoding.reorder(new_order)

    def make_generation_fast_(self, need_attn: bool = False, **_kwargs: Any) -> None:
        self.need_attn = need_attn

    def _begin(
        self, state: dict[str, Decoding] | None, tokens: Tensor, sentences: int
    ) -> tuple[Sequence[Caches], Tensor | None, int]:
        """Each layer's caches, where self-attention may not look, and how many rows it has for a sentence."""
        rows, length = tokens.shape
        if state is None:
            mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
            return [(None, None)] * len(self.layers), mask, 1
        if "decoding" not in state:
            state["decoding"] = Decoding(len(self.layers), beams=rows // sentences)
        decoding = state["decoding"]
        return decoding.step(rows, tokens.device), decoding.lineage.mask(), decoding.lineage.beams

    def _in_source_order(self, attn: Tensor, encoder_out: EncoderOut) -> Tensor:
        attn = attn.mean(1)  # B x beams * T x S
        rotation = _rotation(-encoder_out["leading_padding"][0], attn.size(-1))
        return attn.gather(-1, rotation.unsqueeze(1).expand_as(attn))


@register_model(MODEL, dataclass=TranslationConfig)
class TranslationModel(FairseqEncoderDecoderModel):
    """Every architecture of the package: what differs is in the configuration (presets.py)."""

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__(encoder, decoder)
        self._profile_checked = False

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "TranslationModel":
        cfg = read_options(TranslationConfig, cfg)
        validate(cfg)
        refuse_left_padded_targets(task)
        source, target = task.source_dictionary, task.target_dictionary
        source_embedding = embedding(source, cfg.encoder_embed_dim)
        if cfg.share_all_embeddings:
            if source != target:
                raise OptionError(
                    f"--share-all-embeddings needs a joined dictionary, these have {len(source)} and {len(target)} "
                    "entries: binarise with fairseq-preprocess --joined-dictionary"
                )
            target_embedding = source_embedding
        else:
            target_embedding = embedding(target, cfg.decoder_embed_dim)
        return cls(Encoder(cfg, source, source_embedding), Decoder(cfg, target, target_embedding))

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor, features_only: bool = False
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        if self.training and not self._profile_checked:
            self._profile_checked = True
            pending = [stack for stack in (self.encoder, self.decoder) if is_pending(stack)]
            if pending:
                profile(pending, lambda: self(src_tokens, src_lengths, prev_output_tokens))
        encoder_out = self.encoder(src_tokens, src_lengths)
        return self.decoder(prev_output_tokens, encoder_out, features_only=features_only)

    def load_state_dict(self, state_dict: dict[str, Tensor], *args: Any, **kwargs: Any) -> Any:
        self._profile_checked = False  # the loaded weights say whether there is a profile
        demand_finite(state_dict)
        with told_in_one_line(self, state_dict):
            return super().load_state_dict(state_dict, *args, **kwargs)


def read_options(kind: type[Config], options: Any) -> Config:
    """The options that a model of this kind knows, out of fairseq's: what hydra made, or a namespace."""
    given = options if isinstance(options, DictConfig) else vars(options)
    known = [field.name for field in fields(kind) if not field.name.startswith("_")]
    return kind(**{name: given[name] for name in known if name in given})


def embedding(dictionary: Dictionary, width: int) -> nn.Embedding:
    embedding = nn.Embedding(len(dictionary), width, padding_idx=dictionary.pad())
    nn.init.normal_(embedding.weight, std=width**-0.5)
    nn.init.zeros_(embedding.weight[dictionary.pad()])
    return embedding


def refuse_left_padded_targets(task: Any) -> None:
    options = getattr(task, "cfg", None) or getattr(task, "args", None)
    if str(getattr(options, "left_pad_target", False)) == "True":  # a flag of some tasks, a word of others
        raise OptionError(
            "--left-pad-target is not supported: leave it out, or pass False where the task wants a value"
        )


def _rotation(shift: Tensor, length: int) -> Tensor:
    """For each row, the column that comes to stand at 0, 1, ... when its first `shift` columns move to the end."""
    return (torch.arange(length, device=shift.device) + shift) % length  # B x length
