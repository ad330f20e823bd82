"""Multi-head attention around a score rule: projections, mask, softmax, decoding cache."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from realformer_nmt.kernels.dropout import Dropout
from realformer_nmt.kernels.linear import Joint, linear
from realformer_nmt.kernels.native.attend import attend
from realformer_nmt.kernels.native.library import library
from realformer_nmt.model.attention.attention_pattern import FULL, Pattern, View, required
from realformer_nmt.model.attention.cache import CrossCache, KeysValues, SelfCache
from realformer_nmt.model.attention.carry import Carried, Carry
from realformer_nmt.model.attention.depth_pairs import OwnPosition, mix, parted
from realformer_nmt.model.attention.heads import HeadMixing
from realformer_nmt.model.attention.relative_positions import RelativePositions
from realformer_nmt.model.attention.score_chain import attend_in_chain
from realformer_nmt.model.attention.score_source import ScoreSource
from realformer_nmt.model.attention.scores import Dot
from realformer_nmt.model.scaling import Gains
from realformer_nmt.model.topologies.topology import HeadNorms, HeadOutput

Computed = tuple[Tensor, Carried, Sequence[Tensor]]  # heads, B x T x C; carried; probabilities, if any, of each view
Compute = Callable[[Tensor, Tensor | None, KeysValues, Tensor | None, Carried], Computed]


class Attended(NamedTuple):
    """Result of attention."""

    output: Tensor  # B x T x C
    carried: Carried  # to the next layer
    probabilities: Tensor | None  # of the softmax: B x H x T x S, with `weights`


class Attention(nn.Module, ABC):
    """softmax(mask(carry(source(...)))) V, projected: Vaswani et al. 2017, section 3.2. `depth` counts from 1."""

    def __init__(
        self,
        source: ScoreSource,
        carry: Carry,
        depth: int,
        *,
        memory_width: int,
        dropout: float,
        gains: Gains,
        head_norms: Callable[..., nn.Module] | None = None,
        head_output: HeadOutput | None = None,
        head_mixing: HeadMixing | None = None,
        pattern: Pattern = FULL,
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        width = source.heads * source.head_width
        source = carry.source(source, depth)
        self.score_source, self.carry, self.depth = source, carry, depth
        self.pattern, self.positions = pattern, positions if source.queries and source.keys else None
        self.head_mixing = head_mixing or HeadMixing()
        self.usual = positions is None and self.head_mixing.none
        self.plain = isinstance(source, Dot) and carry.keeps_scores and self.usual
        self.kernel = False  # whether it decodes by the package's kernel
        self.dropout_module = Dropout(dropout, module_name=type(self).__name__)
        if source.queries:
            self.q_proj = xavier_linear(width, width, gains.query_key)
        if source.keys:
            self.k_proj = xavier_linear(memory_width, width, gains.query_key)
        self.v_proj = xavier_linear(memory_width, width, gains.value)
        projected = ("value", *["key"] * source.keys, *["query"] * source.queries)
        self.head_norms = head_norms(source.head_width, *projected) if head_norms else HeadNorms()
        self.head_output = head_output or HeadOutput()
        self.out_proj = xavier_linear(width, width, gains.output)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        carried: Carried = (),
        cache: Any = None,
        weights: bool = True,
    ) -> Attended:
        """Attend from x to memory; mask is True where a query may not look, and broadcasts to B x H x T x S.

        Without `weights` a kernel computes everything, if there is one for it.
        """
        compute = self._compose if weights else self._fastest(x, cache)
        query, seen, carried = self._look(x, memory, carried, cache, compute == self._step)
        heads, carried, shares = compute(x, query, seen, mask, carried)
        shown = self.pattern.matrix(shares, seen) if weights else None
        return Attended(self.out_proj(self.head_output(x, heads)), carried, shown)

    @property
    def has_kernel(self) -> bool:
        return type(self.score_source) is Dot and self.usual and "divisor" in vars(type(self.carry))

    def _fastest(self, x: Tensor, cache: Any) -> Compute:
        """Return the fastest method that computes this attention.

        On the CPU torch's kernel has no dropout, and is slower for the few queries of a decoding step.
        """
        drops, decodes = self.dropout_module.applies, cache is not None
        if self.kernel and decodes and not drops and _fits_step_kernel(x):
            return self._step
        sums = self.has_kernel and not self.carry.keeps_scores
        if sums and self.pattern.whole and not decodes and _trains():
            return self._chain
        return self._attend if self.plain and not (x.is_cpu and (drops or decodes)) else self._compose

    def _chain(
        self, x: Tensor, query: Tensor | None, seen: KeysValues, mask: Tensor | None, carried: Carried
    ) -> Computed:
        """Compute dot products and their running total without storing them."""
        dropout = self.dropout_module.p if self.dropout_module.applies else 0.0
        [view] = self.pattern.views(required(query) * self.score_source.head_width**-0.5, seen, mask)
        value, key = view.seen.parts
        before = carried[0] if carried else None
        divisor = self.carry.divisor(self.depth)
        heads, total = attend_in_chain(view.query, key, value, before, view.mask, divisor, dropout)
        return self._join(x, [heads]), (total,), ()

    def _step(
        self, _x: Tensor, query: Tensor | None, seen: KeysValues, mask: Tensor | None, carried: Carried
    ) -> Computed:
        """Compute a decoding step by the package's kernel."""
        before, divisor = carried[0] if carried else None, self.carry.divisor(self.depth)
        hidden = None if seen.last else mask
        heads, total = attend(required(query), seen.parts[::-1], seen.last[::-1], seen.origin, hidden, before, divisor)
        return heads, carried if total is None else (total,), ()

    def _attend(
        self, x: Tensor, query: Tensor | None, seen: KeysValues, mask: Tensor | None, carried: Carried
    ) -> Computed:
        """Compute dot products of this layer alone by torch's kernel."""
        dropout = self.dropout_module.p if self.dropout_module.applies else 0.0
        views = self.pattern.views(query, seen, mask)
        heads = [view.seen.attend(required(view.query), view.mask, dropout) for view in views]
        return self._join(x, heads), carried, ()

    def _compose(
        self, x: Tensor, query: Tensor | None, seen: KeysValues, mask: Tensor | None, carried: Carried
    ) -> Computed:
        """Compute any attention, operation by operation."""
        views = self.pattern.views(query, seen, mask)
        scores = [self.score_source(x, view.query, view.seen) for view in views]  # B or 1 x H x T x S
        if self.positions is not None:
            scores = self.positions(scores, views, self.pattern, seen.length)
        logits, carried = self.carry.scores(_concatenated(scores), carried, self.depth)
        below = [[self.pattern.queries(part) for part in pair] for pair in self.carry.below(carried)]
        mixed = [
            self._mix(x, part, view, [OwnPosition(tuple(part[index] for part in pair)) for pair in below])
            for index, (part, view) in enumerate(zip(_split_views(logits, scores), views, strict=True))
        ]
        return self._join(x, [heads for heads, _ in mixed]), carried, [shares for _, shares in mixed]

    def _mix(self, x: Tensor, logits: Tensor, view: View, below: Sequence[OwnPosition]) -> tuple[Tensor, Tensor]:
        """Return heads, R x H x T x D, and probabilities, R x H x T x S; the rest to 1 is of the layers below."""
        mixing = self.head_mixing
        columns = [self.score_source(x, view.query, pair) for pair in below]  # R x H x T x 1 each
        shares = _softmax(*map(mixing.before_softmax, (logits, *columns)), view=view)
        weighed = mixing.after_softmax(self.dropout_module(shares))
        return mixing.after_values(mix(view.seen, below, weighed)), parted(shares, len(below))[0]

    def _join(self, x: Tensor, heads: Sequence[Tensor]) -> Tensor:
        return self.pattern.join(heads, x.size(1)).transpose(1, 2).flatten(2)  # B x T x C

    def make_generation_fast_(self, **_options: Any) -> None:
        self.kernel = self.has_kernel and library() is not None

    @abstractmethod
    def _look(
        self, x: Tensor, memory: Tensor, carried: Carried, cache: Any, stepping: bool
    ) -> tuple[Tensor | None, KeysValues, Carried]:
        """Return the queries, if there are any, and what they see; `stepping`: for the package's kernel."""

    def _keys_values(self, projected: Sequence[Tensor], carried: Carried) -> tuple[KeysValues, Carried]:
        """Return values and keys of projections: of values, and of keys if the scores need any."""
        pair, carried = self.carry.pair(tuple(map(self._heads, ("value", "key"), projected)), carried, self.depth)
        return KeysValues(pair), carried

    def _heads(self, name: str, x: Tensor) -> Tensor:
        heads: Tensor = self.head_norms(name, x.view(*x.shape[:-1], self.score_source.heads, -1).transpose(1, 2))
        return heads  # B x H x T x D


class SelfAttention(Attention):
    """Self-attention; the cache has the keys and values of the earlier positions."""

    joint: Joint | None = None  # when it decodes

    def make_generation_fast_(self, **options: Any) -> None:
        super().make_generation_fast_(**options)
        projections = self._projections()
        if all(isinstance(projection, nn.Linear) for projection in projections):
            self.joint = Joint(*projections)
            self.joint.lay_out(**options)

    def release(self) -> None:
        if self.joint is not None:
            self.joint.release()

    def _projections(self) -> list[nn.Linear]:
        """Return the projections to values, keys and queries, as far as the scores need them."""
        keys = [self.k_proj] if self.score_source.keys else []
        queries = [self.q_proj] if self.score_source.queries else []
        return [self.v_proj, *keys, *queries]

    def _look(
        self, x: Tensor, _memory: Tensor, carried: Carried, cache: SelfCache | None, stepping: bool
    ) -> tuple[Tensor | None, KeysValues, Carried]:
        projected = [layer(x) for layer in self._projections()] if self.joint is None else [*self.joint.outputs(x)]
        query = self._heads("query", projected.pop()) if self.score_source.queries else self.score_source.layout(x)
        new, carried = self._keys_values(projected, carried)
        return query, (new if cache is None else cache.extend(new, stepping)), carried


class CrossAttention(Attention):
    """Encoder-decoder attention; the cache has the keys and values of the source from the first step on."""

    def _look(
        self, x: Tensor, memory: Tensor, carried: Carried, cache: CrossCache | None, stepping: bool
    ) -> tuple[Tensor, KeysValues, Carried]:
        query = self._heads("query", self.q_proj(x))
        if cache is not None and cache.held is not None:
            return query, cache.held, carried
        seen, carried = self._keys_values([self.v_proj(memory), self.k_proj(memory)], carried)
        if cache is not None:
            value, key = seen.parts
            across = key.is_cpu and not stepping  # as in the other cache
            key = key.transpose(-1, -2).contiguous().transpose(-1, -2) if across else key.contiguous()
            seen = cache.held = KeysValues((value.contiguous(), key))  # or each step copies
        return query, seen, carried


def _concatenated(scores: Sequence[Tensor]) -> Tensor:
    """Concatenate the scores of several views for the carry: 1 x H x 1 x all."""
    if len(scores) == 1:
        return scores[0]
    return torch.cat([view.transpose(0, 1).flatten(1) for view in scores], 1)[None, :, None]


def _split_views(logits: Tensor, scores: Sequence[Tensor]) -> list[Tensor]:
    """Split the logits that _concatenated put together: the inverse, view by view."""
    if len(scores) == 1:
        return [logits]
    sizes = [view.numel() // view.size(1) for view in scores]
    parts = zip(torch.split(logits[0, :, 0], sizes, 1), scores, strict=True)
    return [torch.unflatten(part, 1, (len(view), *view.shape[2:])).transpose(0, 1) for part, view in parts]


def _softmax(logits: Tensor, *columns: Tensor, view: View) -> Tensor:
    """Return the probabilities of a view, R x H x T x S, and of more columns, which no mask hides.

    The logits may be the same for all rows.
    """
    value = view.seen.parts[0]
    if view.mask is not None:
        logits = logits.masked_fill(view.mask, -torch.inf)
    if columns:
        logits = torch.cat([logits, *columns], -1)
    return logits.softmax(-1, dtype=torch.float32).type_as(value).expand(value.size(0), -1, -1, -1)


def _trains() -> bool:
    """Tell whether there will be a backward pass, which repeats products as they are: not in autocast's type."""
    return torch.is_grad_enabled() and not any(map(torch.is_autocast_enabled, ("cpu", "cuda")))


def _fits_step_kernel(x: Tensor) -> bool:
    plain = x.is_cpu and x.dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
    return plain and not torch.is_grad_enabled()


def xavier_linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight, gain=gain)
    nn.init.zeros_(layer.bias)
    return layer
