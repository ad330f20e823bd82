"""One encoder layer and one decoder layer: each sub-layer reads from the stream, runs, and writes back."""

from typing import NamedTuple

from torch import Tensor, nn

from realformer_nmt.kernels.dropout import ACTIVATED, ActivatedDropout, Dropout
from realformer_nmt.model.attention import Attended, CrossAttention, SelfAttention, xavier_linear
from realformer_nmt.model.cache import OwnMemory, SourceMemory
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.residual import TOPOLOGIES, Stream
from realformer_nmt.model.scaling import SCALINGS, Shortcut, Stack
from realformer_nmt.model.scores import CARRIES, build_source

Caches = tuple[OwnMemory, SourceMemory] | tuple[None, None]
Totals = tuple[Tensor | None, Tensor | None]  # what the two score chains of the decoder carry


class Shape(NamedTuple):
    """The sizes of one side's layers."""

    width: int
    ffn_width: int
    heads: int


class Layer(nn.Module):
    """What both kinds of layer share. `depth` counts from 1."""

    side: str
    sublayers: int

    def __init__(self, cfg: TranslationConfig, depth: int) -> None:
        super().__init__()
        sizes = ("embed_dim", "ffn_embed_dim", "attention_heads")
        self.shape = Shape(*(getattr(cfg, f"{self.side}_{size}") for size in sizes))
        self.depth = depth
        self.topology = TOPOLOGIES[cfg.residual_topology]
        self.carry = CARRIES[cfg.score_carry]
        self.scaling = SCALINGS[cfg.residual_scaling](Stack(self.side, cfg.encoder_layers, cfg.decoder_layers))
        self.dropout_module = Dropout(cfg.dropout, module_name=type(self).__name__)

    def add_self_attention(self, cfg: TranslationConfig) -> None:
        width, _, heads = self.shape
        self.self_attn = SelfAttention(
            build_source(cfg.score_source, heads, width // heads, cfg.score_length),
            self.carry,
            self.depth,
            memory_width=width,
            dropout=cfg.attention_dropout,
            gains=self.scaling.gains,
        )
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.self_attn_shortcut = self.shortcut(0)

    def add_feed_forward(self, cfg: TranslationConfig) -> None:
        width, ffn_width, _ = self.shape
        activated = ACTIVATED.get(cfg.activation_fn, ActivatedDropout)
        self.activation_dropout_module = activated(cfg.activation_fn, cfg.activation_dropout, type(self).__name__)
        self.fc1 = xavier_linear(width, ffn_width, self.scaling.gains.output)
        self.fc2 = xavier_linear(ffn_width, width, self.scaling.gains.output)
        self.final_layer_norm = nn.LayerNorm(width)
        self.ffn_shortcut = self.shortcut(self.sublayers - 1)

    def shortcut(self, index: int) -> Shortcut:
        return self.scaling.shortcut(self.shape.width, self.sublayers * (self.depth - 1) + index)

    def attend_to_self(
        self, stream: Stream, mask: Tensor | None, total: Tensor | None, cache: OwnMemory | None = None
    ) -> tuple[Stream, Attended]:
        x = self.topology.read(stream, self.self_attn_layer_norm)
        attended = self.self_attn(x, x, mask, total, cache, weights=False)
        branch = self.dropout_module(attended.output)
        return self.topology.write(stream, branch, self.self_attn_shortcut, self.self_attn_layer_norm), attended

    def feed_forward(self, stream: Stream) -> Stream:
        """fc2(activation(fc1(x)))."""
        x = self.topology.read(stream, self.final_layer_norm)
        hidden = self.activation_dropout_module(self.fc1(x))
        branch = self.dropout_module(self.fc2(hidden))
        return self.topology.write(stream, branch, self.ffn_shortcut, self.final_layer_norm)


class EncoderLayer(Layer):
    side, sublayers = "encoder", 2

    def __init__(self, cfg: TranslationConfig, depth: int) -> None:
        super().__init__(cfg, depth)
        self.add_self_attention(cfg)
        self.add_feed_forward(cfg)

    def forward(self, stream: Stream, mask: Tensor, total: Tensor | None) -> tuple[Stream, Tensor | None]:
        stream, attended = self.attend_to_self(stream, mask, total)
        return self.feed_forward(stream), attended.total


class DecoderLayer(Layer):
    side, sublayers = "decoder", 3

    def __init__(self, cfg: TranslationConfig, depth: int) -> None:
        super().__init__(cfg, depth)
        width, _, heads = self.shape
        self.add_self_attention(cfg)
        self.encoder_attn = CrossAttention(
            build_source("dot", heads, width // heads, cfg.score_length),
            self.carry,
            depth,
            memory_width=cfg.encoder_embed_dim,
            dropout=cfg.attention_dropout,
            gains=self.scaling.gains if cfg.encoder_embed_dim == width else self.scaling.unequal,
        )
        self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.encoder_attn_shortcut = self.shortcut(1)
        self.add_feed_forward(cfg)

    def forward(
        self,
        stream: Stream,
        memory: Tensor,
        masks: tuple[Tensor | None, Tensor],
        totals: Totals,
        caches: Caches = (None, None),
        weights: bool = True,
    ) -> tuple[Stream, Totals, Tensor | None]:
        """The stream has a row a beam, memory one a sentence. masks, totals and caches: those of self-attention, then
        those of encoder-decoder attention, whose weights come back where they are wanted."""
        stream, to_self = self.attend_to_self(stream, masks[0], totals[0], caches[0])
        x = self.topology.read(stream, self.encoder_attn_layer_norm)
        queries = x.view(len(memory), -1, x.size(-1))  # B x beams * T x C: the beams of a sentence share its memory
        to_source = self.encoder_attn(queries, memory, masks[1], totals[1], caches[1], weights)
        branch = self.dropout_module(to_source.output).view(x.shape)
        stream = self.topology.write(stream, branch, self.encoder_attn_shortcut, self.encoder_attn_layer_norm)
        return self.feed_forward(stream), (to_self.total, to_source.total), to_source.probabilities
