"""The base class of encoder and decoder: embeddings, and the stack of layers."""

import functools
import math
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.modules import PositionalEmbedding
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from realformer_nmt.kernels.dropout import Dropout
from realformer_nmt.model.attention.scores import longest
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.layers import Layer
from realformer_nmt.model.norms import NORMS
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.topologies.topology import Stack, Stream


class Side(nn.Module):
    def add_stack(
        self,
        cfg: TranslationConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        layer: type[Layer],
        stack: Stack,
        limit: int,
    ) -> None:
        width = embed_tokens.embedding_dim
        self.padding_idx: int = dictionary.pad()
        self.register_buffer("version", torch.tensor([3.0]))  # stock checkpoints hold one
        self.embed_tokens = embed_tokens
        self.embed_scale = 1.0 if cfg.no_scale_embedding else math.sqrt(width)
        self.embed_positions = None
        if not cfg.no_token_positional_embeddings:
            learned = getattr(cfg, f"{stack.name}_learned_pos")
            self.embed_positions = PositionalEmbedding(limit, width, self.padding_idx, learned=learned)
        self.layernorm_embedding = NORMS[stack.norm](width) if cfg.layernorm_embedding else nn.Identity()
        self.dropout_module = Dropout(cfg.dropout, module_name=type(self).__name__)
        self.checkpoint_activations = cfg.checkpoint_activations
        self.topology = TOPOLOGIES[cfg.residual_topology](stack, width)
        self.layers = nn.ModuleList(layer(cfg, depth, self.topology) for depth in range(1, stack.layers + 1))
        self.layer_norm = self.topology.final_norm()
        self.limit: int = min(limit, longest(cfg.score_source, cfg.score_length) or limit)

    def embed(self, tokens: Tensor, positions: Tensor | None) -> Tensor:
        x = self.embed_scale * self.embed_tokens(tokens)  # B x T x C
        if positions is not None:
            x = x + positions
        dropped: Tensor = self.dropout_module(self.layernorm_embedding(x))
        return dropped

    def position_table(self) -> Tensor | None:
        """Return the embeddings of positions, whose row i is for word i of a sequence, counted from 0."""
        positions: Any = self.embed_positions
        if positions is None:
            return None
        table: Tensor = positions.weight if isinstance(positions, nn.Embedding) else positions.weights
        return table.detach()[self.padding_idx + 1 :]

    def run(self, layer: nn.Module, stream: Stream, *state: Any) -> Any:
        """Run a layer as the topology asks for; return the stream and what else the layer hands on."""
        call = functools.partial(layer, self.topology)
        if self.checkpoint_activations and torch.is_grad_enabled():
            call = functools.partial(checkpoint, layer, self.topology, use_reentrant=False)
        return self.topology(call, stream, *state)

    def max_positions(self) -> int:
        return self.limit


def rotation(shift: Tensor, length: int) -> Tensor:
    """Return, for each row, its columns in the order in which the first `shift` come last."""
    return (torch.arange(length, device=shift.device) + shift) % length  # B x length
