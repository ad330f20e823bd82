"""The decoder: all target positions at once, or in beam search one position of every beam."""

from collections.abc import Sequence
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from realformer_nmt.kernels.linear import linear, pieces_of
from realformer_nmt.kernels.topk_logits import Best, best
from realformer_nmt.model.attention.beam_order import OrderReader
from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.encoder import EncoderOut
from realformer_nmt.model.layers import BothCarried, Caches, DecoderLayer, LoneDecoderLayer
from realformer_nmt.model.stack import Side, rotation
from realformer_nmt.model.topologies.topology import Stack

DecoderOut = tuple[Tensor, dict[str, list[Tensor | None]]]  # B x T x V or C, and attention


class Decoder(Side, FairseqIncrementalDecoder):
    """Decoder; with `no_encoder_attn`, as in fairseq, one without encoder-decoder attention."""

    def __init__(
        self, cfg: TranslationConfig, dictionary: Dictionary, embed_tokens: nn.Embedding, no_encoder_attn: bool = False
    ) -> None:
        super().__init__(dictionary)
        self.no_encoder_attn = no_encoder_attn
        layer = LoneDecoderLayer if no_encoder_attn else DecoderLayer
        other_layers = 0 if no_encoder_attn else cfg.encoder_layers
        stack = Stack("decoder", other_layers, cfg.decoder_layers, cfg.norm, cfg.residual_blocks)
        self.add_stack(cfg, dictionary, embed_tokens, layer, stack, cfg.max_target_positions)
        self.need_attn = True
        if cfg.share_decoder_input_output_embed or cfg.share_all_embeddings:
            vocabulary, width = embed_tokens.weight.shape
            self.output_projection = linear(width, vocabulary, bias=False)
            self.output_projection.weight = embed_tokens.weight
        else:
            self.output_projection = linear(cfg.decoder_embed_dim, len(dictionary), bias=False)
            nn.init.normal_(self.output_projection.weight, std=cfg.decoder_embed_dim**-0.5)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut | None = None,
        incremental_state: dict[str, Decoding] | None = None,
        features_only: bool = False,
        mask_padding: bool = False,
    ) -> DecoderOut:
        """Return the logits, or the features, and the last layer's attention.

        No token sees the padding behind it. With `mask_padding` padding does not see itself either, as in stock
        fairseq, which makes a difference for ADMIN's profile only.
        """
        x, extra = self.extract_features(prev_output_tokens, encoder_out, incremental_state, mask_padding)
        return (x if features_only else self.output_layer(x)), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut | None = None,
        incremental_state: dict[str, Decoding] | None = None,
        mask_padding: bool = False,
    ) -> DecoderOut:
        tokens, (memory, source_padding) = prev_output_tokens, self._see(encoder_out)
        positions = self.embed_positions(tokens, incremental_state=incremental_state) if self.embed_positions else None
        if incremental_state is not None:
            tokens = tokens[:, -1:]
        caches, mask, beams = self._begin(incremental_state, tokens, memory, encoder_out)
        if mask_padding and mask is not None:
            mask = mask | tokens.eq(self.padding_idx)[:, None, None]  # B x 1 x T x T
        masks = (mask, source_padding)
        weights = self.need_attn and not self.training
        x, attn = self.write(self.embed(tokens, positions), memory, masks, caches, beams, weights)
        if encoder_out is None or memory is None or attn is None:
            return x, {"attn": [None]}
        return x, {"attn": [self._in_source_order(attn, encoder_out).view(*x.shape[:2], -1)]}  # rows x T x S

    def write(
        self,
        x: Tensor,
        memory: Tensor | None,
        masks: tuple[Tensor | None, Tensor | None],
        caches: Sequence[Caches],
        beams: int = 1,
        weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Run all layers on embeddings, rows x T x C; return as much, and with `weights` the last layer's attention."""
        stream = self.topology.enter(x.view(x.size(0) // beams, -1, x.size(-1)))  # in beam search B x beams x C
        carried: BothCarried = ((), ())
        for layer, cache in zip(self.layers, caches, strict=True):
            shown = weights and layer is self.layers[-1]
            stream, carried, attn = self.run(layer, stream, memory, masks, carried, cache, shown)
        return self.topology.leave(stream, self.layer_norm).view(x.shape), attn if weights else None

    def output_layer(self, features: Tensor) -> Tensor:
        logits: Tensor = self.output_projection(features)  # B x T x V
        return logits

    def best_words(self, features: Tensor, first: int, number: int, temperature: float = 1.0) -> Best:
        """Return the logits of the first words and the largest of the rest, for one position per row, rows x C."""
        parts = (logits.float() for logits in pieces_of(self.output_projection, features))
        if temperature != 1:
            parts = (logits / temperature for logits in parts)
        return best(parts, first, number)

    def reorder_incremental_state_scripting(self, incremental_state: dict[str, Decoding], new_order: Tensor) -> None:
        """Reorder the state; fairseq's method visits every module at every step."""
        for decoding in incremental_state.values():
            decoding.reorder(new_order)

    def make_generation_fast_(self, need_attn: bool = False, **_kwargs: Any) -> None:
        self.need_attn = need_attn

    def _see(self, encoder_out: EncoderOut | None) -> tuple[Tensor, Tensor] | tuple[None, None]:
        """Return the memory, B x S x C, and its padding."""
        if self.no_encoder_attn:
            return None, None
        if encoder_out is None:
            raise TypeError("encoder_out is missing: pass what the encoder gave, or build with no_encoder_attn=True")
        return encoder_out["encoder_out"][0].transpose(0, 1), encoder_out["encoder_padding_mask"][0][:, None, None]

    def _begin(
        self,
        state: dict[str, Decoding] | None,
        tokens: Tensor,
        memory: Tensor | None,
        encoder_out: EncoderOut | None,
    ) -> tuple[Sequence[Caches], Tensor | None, int]:
        """Return each layer's caches, the mask of self-attention, and its number of rows per sentence."""
        rows, length = tokens.shape
        if state is None:
            mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
            return [(None, None)] * len(self.layers), mask, 1
        if "decoding" not in state:
            beams = 1 if memory is None else rows // len(memory)
            orders = OrderReader() if encoder_out is None else encoder_out.orders
            state["decoding"] = Decoding(len(self.layers), beams, orders)
        decoding = state["decoding"]
        return decoding.step(rows, tokens.device), decoding.lineage.mask(), decoding.lineage.beams

    def _in_source_order(self, attn: Tensor, encoder_out: EncoderOut) -> Tensor:
        attn = attn.mean(1)  # B x beams * T x S
        columns = rotation(-encoder_out["leading_padding"][0], attn.size(-1))
        return attn.gather(-1, columns.unsqueeze(1).expand_as(attn))
