"""Two traceable modules of a model, functions of tensors: one reads a source, the other writes one position.

The state of a step is passed in and out as tensors: for each layer the values of all previous positions, and the keys
if its scores use any; rows are beams of any sentences. Carried scores stay within the step.
"""

import copy
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn

from realformer_nmt.model.attention.cache import CrossCache, KeysValues, SelfCache
from realformer_nmt.model.attention.carry import Carried
from realformer_nmt.model.layers import DecoderLayer
from realformer_nmt.model.models.model import TranslationModel

KINDS = ("values", "keys")


class Graph(NamedTuple):
    module: nn.Module
    inputs: dict[str, Tensor]  # examples for tracing
    outputs: list[str]
    axes: dict[str, dict[int, str]]  # dimensions of inputs and outputs that may have any size


def traceable(model: TranslationModel) -> TranslationModel:
    """Return a copy with torch's own linear layers, and with positions in a table."""
    copied = copy.deepcopy(model)
    copied.eval().requires_grad_(False)
    for module in copied.modules():
        if isinstance(module, nn.Linear):
            vars(module).pop("forward", None)
    for side in (copied.encoder, copied.decoder):
        table = side.position_table()
        if table is not None:
            side.embed_positions = Positions(table)
    return copied


class Positions(nn.Module):
    """Table of positions (Side.position_table), a copy."""

    table: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table.clone())

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the positions of tokens that are padded on the right."""
        return self.table[: tokens.size(1)]  # T x C

    def at(self, index: int) -> Tensor:
        return self.table[index : index + 1]


class Reading(nn.Module):
    """Map sources, B x S, padded on the right, to the padding mask and each decoder layer's keys and values of them."""

    def __init__(self, model: TranslationModel) -> None:
        super().__init__()
        self.encoder, self.decoder = model.encoder, model.decoder

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        padding = tokens.eq(self.encoder.padding_idx)
        memory = self.encoder.read(tokens, padding)
        query = memory.new_zeros(memory.size(0), 1, self.decoder.embed_tokens.embedding_dim)
        carried: Carried = ()
        state: list[Tensor] = []
        for layer in self.decoder.layers:
            cache = CrossCache()
            carried = layer.encoder_attn(query, memory, padding[:, None, None], carried, cache, False).carried
            if cache.held is None:
                raise TypeError("attention has not looked at the source")
            state += cache.held.parts
        return padding, *state


class Writing(nn.Module):
    """Map a step's inputs to log-probabilities of the next token, R x V, and the new state of self-attention.

    Inputs are the last token of each row, R x 1, the padding mask of its source, R x S, and the state.
    """

    def __init__(self, model: TranslationModel) -> None:
        super().__init__()
        self.decoder = model.decoder

    def forward(self, token: Tensor, padding: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        tensors = iter(state)
        self_caches = [GrowingCache(tuple(islice(tensors, state_size(layer)))) for layer in self.decoder.layers]
        cross_caches = [_cross_cache(tensors) for _ in self.decoder.layers]
        positions = self.decoder.embed_positions
        position = None if positions is None else positions.at(self_caches[0].start)
        x = self.decoder.embed(token, position)
        masks = (None, padding[:, None, None])
        x, _ = self.decoder.write(x, padding, masks, list(zip(self_caches, cross_caches, strict=True)))
        logits = self.decoder.output_layer(x)[:, 0]  # R x V
        return logits.log_softmax(-1), *(part for cache in self_caches for part in cache.parts)


class GrowingCache(SelfCache):
    """Cache of one layer's self-attention as tensors, R x H x T x D, which `extend` makes one position longer."""

    def __init__(self, parts: tuple[Tensor, ...]) -> None:
        self.parts = parts

    @property
    def start(self) -> int:
        return self.parts[0].size(2)

    def extend(self, new: KeysValues, _apart: bool = False) -> KeysValues:
        start = self.start
        self.parts = tuple(torch.cat(both, 2) for both in zip(self.parts, new.parts, strict=True))
        return KeysValues(self.parts, start)


def state_size(layer: DecoderLayer) -> int:
    """Return the number of tensors that self-attention stores: values, and keys if its scores use any."""
    return 2 if layer.self_attn.score_source.keys else 1


def _cross_cache(tensors: Iterator[Tensor]) -> CrossCache:
    cache = CrossCache()
    cache.held = KeysValues((next(tensors), next(tensors)))
    return cache


def reading(model: TranslationModel) -> Graph:
    tokens = torch.tensor([[4, 5, 6, 4, 2], [5, 4, 2, 1, 1]])
    layers = range(len(model.decoder.layers))
    state = [f"source_{kind}.{number}" for number in layers for kind in KINDS]
    axes = {name: {0: "sentences", 1: "source"} for name in ("tokens", "padding")}
    axes |= {name: {0: "sentences", 2: "source"} for name in state}
    return Graph(Reading(model), {"tokens": tokens}, ["padding", *state], axes)


def writing(model: TranslationModel, encoder: Graph) -> Graph:
    padding, *values = encoder.module(*encoder.inputs.values())
    source_state = dict(zip(encoder.outputs[1:], values, strict=True))
    rows, past = len(padding), 3
    own_state = {}
    for number, layer in enumerate(model.decoder.layers):
        scores = layer.self_attn.score_source
        for kind in KINDS[: state_size(layer)]:
            own_state[f"own_{kind}.{number}"] = torch.zeros(rows, scores.heads, past, scores.head_width)
    new_state = [f"new_{name}" for name in own_state]
    axes = {"token": {0: "rows"}, "padding": {0: "rows", 1: "source"}, "log_probabilities": {0: "rows"}}
    for names, size in ((own_state, "past"), (new_state, "length"), (source_state, "source")):
        axes |= {name: {0: "rows", 2: size} for name in names}
    inputs = {"token": torch.full((rows, 1), 4), "padding": padding, **own_state, **source_state}
    return Graph(Writing(model), inputs, ["log_probabilities", *new_state], axes)
