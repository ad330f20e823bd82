"""Calls of each Python function in kernels/native with random arguments that fit."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from realformer_nmt.kernels.int8 import rounded
from realformer_nmt.kernels.native.attend import attend
from realformer_nmt.kernels.native.best import Search
from realformer_nmt.kernels.native.library import built, in_large_pages
from realformer_nmt.kernels.native.masks import dropped, passed
from realformer_nmt.kernels.native.product import NativeBf16, NativeFp32, NativeInt8
from realformer_nmt.kernels.native.smoothing import replace_by_gradient

Arguments = dict[str, Any]
SIZES = (1, 1, 2, 3, 5, 16, 17, 33)


class Function(NamedTuple):
    arguments: Callable[[Random], Arguments]
    call: Callable[[Arguments], object]


def floats(chance: Random, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(chance.randrange(2**32))).to(dtype)


def whole(chance: Random, limit: int, *shape: int) -> Tensor:
    return torch.randint(limit, shape, generator=torch.Generator().manual_seed(chance.randrange(2**32)))


def source_arguments(chance: Random) -> Arguments:
    """Return an attention to a source."""
    sentences, heads, queries = chance.randint(0, 3), chance.randint(1, 3), chance.randint(1, 4)
    width, positions, carries = chance.choice(SIZES), chance.choice(SIZES), chance.random() < 0.5
    hidden = torch.arange(positions).expand(sentences, 1, 1, -1) >= chance.randint(1, positions)
    return {
        "query": floats(chance, sentences, heads, queries, width),
        "key": floats(chance, sentences, heads, positions, width),
        "value": floats(chance, sentences, heads, positions, width),
        "own_key": None,
        "own_value": None,
        "origin": None,
        "hidden": hidden.contiguous() if chance.random() < 0.5 else None,
        "before": floats(chance, sentences, heads, queries, positions) if carries else None,
        "divisor": chance.randint(1, 5) if carries else None,
    }


def history_arguments(chance: Random) -> Arguments:
    """Return an attention to what beams have written."""
    sentences, heads, beams = chance.randint(0, 3), chance.randint(1, 3), chance.randint(1, 4)
    width, positions = chance.choice(SIZES), chance.choice(SIZES)
    rooms = [floats(chance, sentences, heads, (positions + 2) * beams, width) for _ in range(2)]
    last = [floats(chance, sentences, beams, heads, width).transpose(1, 2) for _ in range(2)]
    origin = whole(chance, beams, sentences, beams, positions)
    origin[:, :, -1] = torch.arange(beams)
    key, value = (room[:, :, : positions * beams] for room in rooms)
    history = {"key": key, "value": value, "own_key": last[0], "own_value": last[1], "origin": origin}
    query = floats(chance, sentences, heads, beams, width)
    return {"query": query, **history, "hidden": None, "before": None, "divisor": None}


def call_attend(arguments: Arguments) -> object:
    last = [arguments[name] for name in ("own_key", "own_value") if arguments[name] is not None]
    more = (arguments[name] for name in ("origin", "hidden", "before", "divisor"))
    return attend(arguments["query"], (arguments["key"], arguments["value"]), last, *more)


def search_arguments(chance: Random) -> Arguments:
    rows, number, first = chance.randint(0, 4), chance.randint(1, 6), chance.randint(0, 5)
    search = Search(rows, first, number)
    sizes = [chance.choice((1, 15, 64, 70, 200)) for _ in range(2)]
    sizes[0] += first + number
    logits, more = floats(chance, rows, sum(sizes)).split(sizes, 1)
    state = {name: getattr(search, name) for name in ("values", "words", "most", "total")}
    return {"rows": rows, "first": first, "number": number, "logits": logits, "more": more, **state}


def call_search(arguments: Arguments) -> object:
    search = Search(arguments["rows"], arguments["first"], arguments["number"])
    for name in ("values", "words", "most", "total"):
        setattr(search, name, arguments[name])
    search.add(arguments["logits"])
    search.add(arguments["more"])
    return search.log_of_sum()


def dropout_arguments(chance: Random) -> Arguments:
    dtype, size = chance.choice((torch.float32, torch.bfloat16)), chance.choice(SIZES)
    x = floats(chance, *chance.choice(((size,), (3, size), (0, 4), ())), dtype=dtype)
    random = (whole(chance, 2**16, x.numel()) - 2**15).to(torch.int16)
    return {"x": x, "random": random, "least": chance.randint(-9999, 9999), "scale": 1.25, "relu": True}


def gradient_arguments(chance: Random) -> Arguments:
    arguments = dropout_arguments(chance)
    bits = arguments["random"][: (arguments["x"].numel() + 15) // 16]
    return {"gradient": arguments["x"], "bits": bits.clone(), "scale": 1.25}


def loss_arguments(chance: Random) -> Arguments:
    rows, words = chance.randint(0, 5), chance.choice((2, 15, 16, 17, 100))
    logits = floats(chance, rows, words, dtype=chance.choice((torch.float32, torch.bfloat16)))
    target = whole(chance, words, rows)
    return {"logits": logits, "target": target, "peak": 0.875, "uniform": 0.015625, "padding": chance.randint(-1, 3)}


def layer_arguments(chance: Random) -> Arguments:
    inputs, outputs = chance.choice((1, 3, 33, 64, 67, 130)), chance.choice((1, 16, 33, 64, 65, 130))
    leading = chance.choice(((1,), (7,), (0,), (2, 3), (26,), (40,), ()))
    bias = floats(chance, outputs) if chance.random() < 0.7 else None
    x = floats(chance, *leading, inputs)
    return {"weight": floats(chance, outputs, inputs), "bias": bias, "x": x, "tiles": chance.randint(0, 1)}


def int8_arguments(chance: Random) -> Arguments:
    arguments = layer_arguments(chance)
    weight, scale = rounded(arguments.pop("weight"))
    return {"weight": weight, "scale": scale, **arguments}


def call_layer(kind: Callable[..., Any], *names: str) -> Callable[[Arguments], object]:
    def call(arguments: Arguments) -> object:
        layer = kind(built(), *(arguments[name] for name in names))
        layer.tiles = arguments["tiles"]
        return layer(arguments["x"])

    return call


FUNCTIONS = {
    "attend, a source": Function(source_arguments, call_attend),
    "attend, beams": Function(history_arguments, call_attend),
    "best": Function(search_arguments, call_search),
    "masks, dropped": Function(dropout_arguments, lambda arguments: dropped(**arguments)),
    "masks, passed": Function(gradient_arguments, lambda arguments: passed(**arguments)),
    "smoothing": Function(loss_arguments, lambda arguments: replace_by_gradient(**arguments)),
    "linear8": Function(int8_arguments, call_layer(NativeInt8, "weight", "scale", "bias")),
    "linear16": Function(layer_arguments, call_layer(NativeBf16, "weight", "bias")),
    "linear32": Function(
        lambda chance: {**layer_arguments(chance), "tiles": 1}, call_layer(NativeFp32, "weight", "bias")
    ),
    "pages": Function(
        lambda chance: {"room": floats(chance, chance.choice((0, 1, 5000)))},
        lambda arguments: in_large_pages(arguments["room"]),
    ),
}
