"""One encoder layer and one decoder layer: each sub-layer reads from the stream, runs, and writes back."""

from torch import Tensor, nn

from realformer_nmt.kernels.dropout import ACTIVATED, ActivatedDropout, Dropout
from realformer_nmt.model.attention.attention import Attended, CrossAttention, SelfAttention, xavier_linear
from realformer_nmt.model.attention.attention_pattern import FULL, PATTERNS, Pattern
from realformer_nmt.model.attention.cache import CrossCache, SelfCache
from realformer_nmt.model.attention.carry import CARRIES, Carried
from realformer_nmt.model.attention.heads import HEADS
from realformer_nmt.model.attention.relative_positions import RelativePositions
from realformer_nmt.model.attention.scores import build_source, memory_option
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.scaling import SCALINGS, Scaling
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import HeadOutput, Place, Stream, Topology

Caches = tuple[SelfCache, CrossCache] | tuple[None, None]
BothCarried = tuple[Carried, Carried]  # by self-attention, and by encoder-decoder attention


class Layer(nn.Module):
    """Base of encoder and decoder layers; `depth` counts from 1. The topology belongs to the stack and is passed in."""

    side: str
    sublayers: int

    def __init__(self, cfg: TranslationConfig, depth: int, topology: Topology) -> None:
        super().__init__()
        self.width: int = getattr(cfg, f"{self.side}_embed_dim")
        self.heads: int = getattr(cfg, f"{self.side}_attention_heads")
        self.depth = depth
        self.carry, self.head_kind = CARRIES[cfg.score_carry], HEADS[cfg.heads]
        self.residual_scaling, self.stack = cfg.residual_scaling, topology.stack
        self.gains = self.scaling.gains(depth)
        self.dropout_module = Dropout(cfg.dropout, module_name=type(self).__name__)

    def add_self_attention(
        self,
        cfg: TranslationConfig,
        topology: Topology,
        pattern: Pattern = FULL,
        positions: RelativePositions | None = None,
    ) -> None:
        width, heads = self.width, self.heads
        self.self_attn = SelfAttention(
            build_source(cfg.score_source, heads, width // heads, cfg.score_length),
            self.carry,
            self.depth,
            memory_width=width,
            dropout=cfg.attention_dropout,
            gains=self.gains,
            head_norms=topology.head_norms,
            head_output=self.head_kind.output(width, topology.head_output(width, heads)),
            head_mixing=self.head_kind.mixing(heads, width // heads, self.depth),
            pattern=pattern,
            positions=positions,
        )
        self.self_attn_layer_norm = topology.norm(self.place(0))
        self.self_attn_shortcut = self.shortcut(0)

    def add_feed_forward(self, cfg: TranslationConfig, topology: Topology) -> None:
        width, ffn_width = self.width, getattr(cfg, f"{self.side}_ffn_embed_dim")
        activated = ACTIVATED.get(cfg.activation_fn, ActivatedDropout)
        self.activation_dropout_module = activated(cfg.activation_fn, cfg.activation_dropout, type(self).__name__)
        self.fc1 = xavier_linear(width, ffn_width, self.gains.output)
        self.fc2 = xavier_linear(ffn_width, width, self.gains.output)
        self.hidden_norm = topology.hidden_norm(ffn_width)
        self.final_layer_norm = topology.norm(self.place(self.sublayers - 1))
        self.ffn_shortcut = self.shortcut(self.sublayers - 1)
        is_last = self.depth == self.stack.layers
        self.ffn_pair = None if is_last else self.carry.feed_forward_pair(width, self.heads)

    @property
    def scaling(self) -> Scaling:
        return SCALINGS[self.residual_scaling](self.stack)  # no attribute, as its functions cannot be pickled

    def place(self, index: int) -> Place:
        """Return the position in the stack of this layer's sub-layer with that index."""
        return Place(self.depth, self.sublayers * (self.depth - 1) + index, last=index == self.sublayers - 1)

    def shortcut(self, index: int) -> Shortcut:
        return self.scaling.shortcut(self.width, self.place(index).number)

    def attend_to_self(
        self, topology: Topology, stream: Stream, mask: Tensor | None, carried: Carried, cache: SelfCache | None = None
    ) -> tuple[Stream, Attended]:
        norm, place = self.self_attn_layer_norm, self.place(0)
        x = topology.read(stream, norm, place)
        attended = self.self_attn(x, x, mask, carried, cache, weights=False)
        branch = self.dropout_module(attended.output)
        return topology.write(stream, branch, self.self_attn_shortcut, norm, place), attended

    def feed_forward(self, topology: Topology, stream: Stream, carried: Carried) -> tuple[Stream, Carried]:
        """Compute fc2(activation(fc1(x)))."""
        norm, place = self.final_layer_norm, self.place(self.sublayers - 1)
        x = topology.read(stream, norm, place)
        hidden = self.activation_dropout_module(self.fc1(x))
        branch = self.dropout_module(self.fc2(self.hidden_norm(hidden)))
        if self.ffn_pair is not None:
            carried = self.ffn_pair(x, carried)
        return topology.write(stream, branch, self.ffn_shortcut, norm, place), carried


class EncoderLayer(Layer):
    """Encoder layer: self-attention, then a feed-forward block."""

    side, sublayers = "encoder", 2

    def __init__(self, cfg: TranslationConfig, depth: int, topology: Topology) -> None:
        super().__init__(cfg, depth, topology)
        pattern = PATTERNS[cfg.encoder_attention_pattern](cfg.encoder_window, cfg.encoder_global_tokens)
        reach = cfg.encoder_relative_positions
        positions = RelativePositions(self.width // self.heads, reach) if reach else None
        self.add_self_attention(cfg, topology, pattern, positions)
        self.add_feed_forward(cfg, topology)

    def forward(self, topology: Topology, stream: Stream, mask: Tensor, carried: Carried) -> tuple[Stream, Carried]:
        stream, attended = self.attend_to_self(topology, stream, mask, carried)
        return self.feed_forward(topology, stream, attended.carried)


class LoneDecoderLayer(Layer):
    """Decoder layer without encoder-decoder attention, called like one that has it."""

    side, sublayers = "decoder", 2

    def __init__(self, cfg: TranslationConfig, depth: int, topology: Topology) -> None:
        super().__init__(cfg, depth, topology)
        self.add_self_attention(cfg, topology)
        self.add_feed_forward(cfg, topology)

    def forward(
        self,
        topology: Topology,
        stream: Stream,
        _memory: None,
        masks: tuple[Tensor | None, None],
        carried: BothCarried,
        caches: Caches = (None, None),
        _weights: bool = False,
    ) -> tuple[Stream, BothCarried, None]:
        stream, to_self = self.attend_to_self(topology, stream, masks[0], carried[0], caches[0])
        stream, own_carried = self.feed_forward(topology, stream, to_self.carried)
        return stream, (own_carried, ()), None


class DecoderLayer(Layer):
    """Decoder layer: self-attention, encoder-decoder attention, then a feed-forward block."""

    side, sublayers = "decoder", 3

    def __init__(self, cfg: TranslationConfig, depth: int, topology: Topology) -> None:
        super().__init__(cfg, depth, topology)
        width, heads = self.width, self.heads
        self.add_self_attention(cfg, topology)
        self.encoder_attn = CrossAttention(
            build_source(memory_option(cfg.score_source), heads, width // heads, cfg.score_length),
            self.carry.memory_carry(),
            depth,
            memory_width=cfg.encoder_embed_dim,
            dropout=cfg.attention_dropout,
            gains=self.scaling.memory_gains(depth, equal_widths=cfg.encoder_embed_dim == width),
            head_norms=topology.head_norms,
            head_output=self.head_kind.output(width, HeadOutput()),
            head_mixing=self.head_kind.mixing(heads, width // heads, depth),
        )
        self.encoder_attn_layer_norm = topology.norm(self.place(1))
        self.encoder_attn_shortcut = self.shortcut(1)
        self.add_feed_forward(cfg, topology)

    def forward(
        self,
        topology: Topology,
        stream: Stream,
        memory: Tensor,
        masks: tuple[Tensor | None, Tensor],
        carried: BothCarried,
        caches: Caches = (None, None),
        weights: bool = True,
    ) -> tuple[Stream, BothCarried, Tensor | None]:
        """Run the layer; return the stream, what is carried, and with `weights` those of encoder-decoder attention.

        The stream has one row per beam, memory one per sentence. masks, carried and caches are pairs: for
        self-attention, and for encoder-decoder attention.
        """
        stream, to_self = self.attend_to_self(topology, stream, masks[0], carried[0], caches[0])
        norm, place = self.encoder_attn_layer_norm, self.place(1)
        x = topology.read(stream, norm, place)
        queries = x.view(memory.size(0), -1, x.size(-1))  # B x beams * T x C: the beams of a sentence share its memory
        to_source = self.encoder_attn(queries, memory, masks[1], carried[1], caches[1], weights)
        branch = self.dropout_module(to_source.output).view(x.shape)
        stream = topology.write(stream, branch, self.encoder_attn_shortcut, norm, place)
        stream, own_carried = self.feed_forward(topology, stream, to_self.carried)
        return stream, (own_carried, to_source.carried), to_source.probabilities
