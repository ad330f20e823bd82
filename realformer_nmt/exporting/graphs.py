"""A model as two functions of tensors alone, which can be traced: what reads a source, and what writes one position.

The step's state goes in and out as tensors: each layer's values, and its keys where its scores take any, of all
positions before; rows are beams of any sentences. What carries scores from layer to layer stays within the step.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from realformer_nmt.model.cache import CrossCache, KeysValues, SelfCache
from realformer_nmt.model.carry import Carried
from realformer_nmt.model.layers import DecoderLayer
from realformer_nmt.model.model import TranslationModel
from realformer_nmt.model.stack import Side

KINDS = ("values", "keys")


class Graph(NamedTuple):
    module: nn.Module
    inputs: dict[str, Tensor]  # examples, with which it is traced
    outputs: list[str]
    axes: dict[str, dict[int, str]]  # what of inputs and outputs may be of any size


def traceable(model: TranslationModel) -> TranslationModel:
    """A copy whose products are torch's own, and whose positions are a table."""
    copied = copy.deepcopy(model).eval().requires_grad_(False)
    for module in copied.modules():
        if isinstance(module, nn.Linear):
            vars(module).pop("forward", None)
    for side in (copied.encoder, copied.decoder):
        if side.embed_positions is not None:
            side.embed_positions = Positions(side)
    return copied


class Positions(nn.Module):
    """Row i of the table is that of a sequence's word i, counted from 0."""

    table: Tensor

    def __init__(self, side: Side) -> None:
        super().__init__()
        embedded: Any = side.embed_positions
        table = embedded.weight if isinstance(embedded, nn.Embedding) else embedded.weights
        self.register_buffer("table", table.detach()[side.padding_idx + 1 :].clone())

    def forward(self, tokens: Tensor) -> Tensor:
        """Of tokens whose padding is on the right."""
        return self.table[: tokens.size(1)]  # T x C

    def at(self, place: int) -> Tensor:
        return self.table[place : place + 1]


class Reading(nn.Module):
    """Sources, B x S, padding on the right, to where padding is and what each layer of the decoder sees of them."""

    def __init__(self, model: TranslationModel) -> None:
        super().__init__()
        self.encoder, self.decoder = model.encoder, model.decoder

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        padding = tokens.eq(self.encoder.padding_idx)
        memory = self.encoder.read(tokens, padding)
        query = memory.new_zeros(memory.size(0), 1, self.decoder.embed_tokens.embedding_dim)
        carried: Carried = ()
        found: list[Tensor] = []
        for layer in self.decoder.layers:
            cache = CrossCache()
            carried = layer.encoder_attn(query, memory, padding[:, None, None], carried, cache, False).carried
            found += seen(cache)
        return padding, *found


def seen(cache: CrossCache) -> tuple[Tensor, ...]:
    if cache.held is None:
        raise TypeError("attention has not looked at the source")
    return cache.held.parts


class Writing(nn.Module):
    """The last token of each row, R x 1, padding of its source, R x S, and the state, to log-probabilities of the next
    token, R x V, and the new state of self-attention."""

    def __init__(self, model: TranslationModel) -> None:
        super().__init__()
        self.decoder = model.decoder

    def forward(self, token: Tensor, padding: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        given = iter(state)
        own = [Grown(tuple(next(given) for _ in range(parts(layer)))) for layer in self.decoder.layers]
        sources = [_held(given) for _ in self.decoder.layers]
        positions = self.decoder.embed_positions
        place = None if positions is None else positions.at(own[0].start)
        x = self.decoder.embed(token, place)
        masks = (None, padding[:, None, None])
        x, _ = self.decoder.write(x, padding, masks, list(zip(own, sources, strict=True)))
        logits = self.decoder.output_layer(x)[:, 0]  # R x V
        return logits.log_softmax(-1), *(part for cache in own for part in cache.parts)


class Grown(SelfCache):
    """Self-attention's in one layer as tensors, R x H x T x D: those of before, then with this position."""

    def __init__(self, parts: tuple[Tensor, ...]) -> None:
        self.parts = parts

    @property
    def start(self) -> int:
        return self.parts[0].size(2)

    def extend(self, new: KeysValues, _apart: bool = False) -> KeysValues:
        start = self.start
        self.parts = tuple(torch.cat(both, 2) for both in zip(self.parts, new.parts, strict=True))
        return KeysValues(self.parts, start)


def parts(layer: DecoderLayer) -> int:
    """How many tensors self-attention keeps: values, and perhaps keys."""
    return 2 if layer.self_attn.score_source.keys else 1


def _held(given: Iterator[Tensor]) -> CrossCache:
    cache = CrossCache()
    cache.held = KeysValues((next(given), next(given)))
    return cache


def reading(model: TranslationModel) -> Graph:
    tokens = torch.tensor([[4, 5, 6, 4, 2], [5, 4, 2, 1, 1]])
    layers = range(len(model.decoder.layers))
    seen = [f"source_{kind}.{number}" for number in layers for kind in KINDS]
    axes = {name: {0: "sentences", 1: "source"} for name in ("tokens", "padding")}
    axes |= {name: {0: "sentences", 2: "source"} for name in seen}
    return Graph(Reading(model), {"tokens": tokens}, ["padding", *seen], axes)


def writing(model: TranslationModel, encoder: Graph) -> Graph:
    padding, *seen = encoder.module(*encoder.inputs.values())
    rows, past = len(padding), 3
    own = {}
    for number, layer in enumerate(model.decoder.layers):
        scores = layer.self_attn.score_source
        for kind in KINDS[: parts(layer)]:
            own[f"own_{kind}.{number}"] = torch.zeros(rows, scores.heads, past, scores.head_width)
    grown = [f"new_{name}" for name in own]
    given = dict(zip(encoder.outputs[1:], seen, strict=True))
    axes = {"token": {0: "rows"}, "padding": {0: "rows", 1: "source"}, "log_probabilities": {0: "rows"}}
    for names, size in ((own, "past"), (grown, "length"), (given, "source")):
        axes |= {name: {0: "rows", 2: size} for name in names}
    inputs = {"token": torch.full((rows, 1), 4), "padding": padding, **own, **given}
    return Graph(Writing(model), inputs, ["log_probabilities", *grown], axes)
