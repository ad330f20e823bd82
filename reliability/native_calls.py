"""Calls of each Python function in kernels/native with random arguments that fit, and what plain torch computes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from realformer_nmt.kernels.int8 import rounded
from realformer_nmt.kernels.native.attend import attend
from realformer_nmt.kernels.native.best import Search
from realformer_nmt.kernels.native.library import in_large_pages, kernels
from realformer_nmt.kernels.native.masks import dropped, passed
from realformer_nmt.kernels.native.product import NativeBf16, NativeFp32, NativeInt8
from realformer_nmt.kernels.native.smoothing import replace_by_gradient
from reliability.native_chance import Chance

Arguments = dict[str, Any]
Results = tuple[Tensor, ...]


class Function(NamedTuple):
    arguments: Callable[[Chance], Arguments]
    call: Callable[[Arguments], Results]
    expected: Callable[[Arguments], Results]  # of arguments that nothing was written to
    tolerance: float = 1e-4
    written: tuple[str, ...] = ()  # the arguments that the call may change


def floats(chance: Chance, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    seeded = torch.Generator().manual_seed(chance.below(2**32))
    return torch.randn(shape, generator=seeded).to(dtype)


def whole(chance: Chance, limit: int, *shape: int) -> Tensor:
    return torch.randint(limit, shape, generator=torch.Generator().manual_seed(chance.below(2**32)))


def some(chance: Chance) -> int:
    return chance.choice([1, 1, 2, 3, 5, 16, 17, 33])


def source_arguments(chance: Chance) -> Arguments:
    """An attention over a source."""
    sentences, heads, queries, width = chance.between(0, 3), chance.between(1, 3), chance.between(1, 4), some(chance)
    positions = some(chance)
    carries = chance.happens(0.5)
    hidden = torch.arange(positions).expand(sentences, 1, 1, -1) >= chance.between(1, positions)
    return {
        "query": floats(chance, sentences, heads, queries, width),
        "key": floats(chance, sentences, heads, positions, width),
        "value": floats(chance, sentences, heads, positions, width),
        "own_key": None,
        "own_value": None,
        "origin": None,
        "hidden": hidden.contiguous() if chance.happens(0.5) else None,
        "before": floats(chance, sentences, heads, queries, positions) if carries else None,
        "divisor": chance.between(1, 5) if carries else None,
    }


def history_arguments(chance: Chance) -> Arguments:
    """An attention over what beams have written."""
    sentences, heads, beams, width = chance.between(0, 3), chance.between(1, 3), chance.between(1, 4), some(chance)
    positions = some(chance)
    rooms = [floats(chance, sentences, heads, (positions + 2) * beams, width) for _ in range(2)]
    origin = whole(chance, beams, sentences, beams, positions)
    origin[:, :, -1] = torch.arange(beams)
    key, value = (room[:, :, : positions * beams] for room in rooms)
    return {
        **source_arguments(chance),
        "query": floats(chance, sentences, heads, beams, width),
        "key": key,
        "value": value,
        "own_key": floats(chance, sentences, beams, heads, width).transpose(1, 2),
        "own_value": floats(chance, sentences, beams, heads, width).transpose(1, 2),
        "origin": origin if beams > 1 or chance.happens(0.5) else None,
        "hidden": None,
        "before": None,
    }


def call_attend(arguments: Arguments) -> Results:
    last = [arguments[name] for name in ("own_key", "own_value") if arguments[name] is not None]
    pair = (arguments["key"], arguments["value"])
    heads, total = attend(
        arguments["query"], pair, last, *(arguments[name] for name in ("origin", "hidden", "before", "divisor"))
    )
    return (heads, *([] if total is None else [total]), *(pair if last else ()))


def expected_of_attend(arguments: Arguments) -> Results:
    """Query by query, in double precision."""
    query, key, value = (arguments[name].double() for name in ("query", "key", "value"))
    key, value = key.clone(), value.clone()
    origin, divisor = arguments["origin"], arguments["divisor"]
    sentences, heads, queries, width = query.shape
    beams = 1 if origin is None else queries
    positions = key.size(2) // beams
    places = torch.arange(positions).expand(sentences, queries, -1) * beams + (0 if origin is None else origin)
    if arguments["own_key"] is not None:
        key[:, :, (positions - 1) * beams :] = arguments["own_key"].double()
        value[:, :, (positions - 1) * beams :] = arguments["own_value"].double()
    index = places[:, None, :, :, None].expand(-1, heads, -1, -1, width)  # B x H x T x S x D
    keys, values = (part[:, :, None].expand(-1, -1, queries, -1, -1).gather(3, index) for part in (key, value))
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / width**0.5
    if arguments["before"] is not None:
        scores = scores + arguments["before"].double()
    masked = scores / (divisor or 1)
    if arguments["hidden"] is not None:
        masked = masked.masked_fill(arguments["hidden"], -torch.inf)
    out = (masked.softmax(-1).unsqueeze(-2) @ values).squeeze(-2).transpose(1, 2).flatten(2)
    return (out, *([] if divisor is None else [scores]), *([] if arguments["own_key"] is None else [key, value]))


def search_arguments(chance: Chance) -> Arguments:
    rows, number, first = chance.between(0, 4), chance.between(1, 6), chance.between(0, 5)
    search = Search(rows, first, number)
    sizes = [chance.choice([1, 15, 64, 70, 200]) for _ in range(2)]
    sizes[0] += first + number
    logits = floats(chance, rows, sum(sizes)).split(sizes, 1)
    state = {name: getattr(search, name) for name in ("values", "words", "most", "total")}
    return {"rows": rows, "first": first, "number": number, "logits": logits[0], "more": logits[1], **state}


def call_search(arguments: Arguments) -> Results:
    search = Search(arguments["rows"], arguments["first"], arguments["number"])
    for name in ("values", "words", "most", "total"):
        setattr(search, name, arguments[name])
    search.add(arguments["logits"])
    search.add(arguments["more"])
    return search.values, search.words, search.log_of_sum()


def expected_of_search(arguments: Arguments) -> Results:
    logits, first = torch.cat([arguments["logits"], arguments["more"]], 1), arguments["first"]
    values, places = logits[:, first:].sort(dim=1, descending=True, stable=True)
    missing = max(0, arguments["values"].size(1) - values.size(1))  # there the search is as it began
    values = torch.nn.functional.pad(values, (0, missing), value=-torch.inf)
    words = torch.cat([places + first, arguments["words"][:, :missing]], 1)
    number = arguments["values"].size(1)
    return values[:, :number], words[:, :number], logits.double().logsumexp(1, True)


def dropout_arguments(chance: Chance) -> Arguments:
    dtype = chance.choice([torch.float32, torch.bfloat16])
    x = floats(chance, *chance.choice([(some(chance),), (3, some(chance)), (0, 4), ()]), dtype=dtype)
    random = (whole(chance, 2**16, x.numel()) - 2**15).to(torch.int16)
    return {
        "x": x,
        "random": random,
        "least": chance.between(-9999, 9999),
        "scale": 1.25,
        "relu": chance.happens(0.5),
    }


def call_dropped(arguments: Arguments) -> Results:
    y, bits = dropped(*(arguments[name] for name in ("x", "random", "least", "scale", "relu")))
    return y, passed(torch.ones_like(y), bits, 1.0)


def expected_of_dropped(arguments: Arguments) -> Results:
    keep = (arguments["random"] >= arguments["least"]).view(arguments["x"].shape)
    x = torch.relu(arguments["x"]) if arguments["relu"] else arguments["x"]
    return torch.where(keep, x.float() * float(arguments["scale"]), 0).to(x.dtype), keep.to(x.dtype)


def gradient_arguments(chance: Chance) -> Arguments:
    arguments = dropout_arguments(chance)
    bits = arguments["random"][: (arguments["x"].numel() + 15) // 16]
    return {"gradient": arguments["x"], "kept": bits.clone(), "scale": 1.25}


def expected_of_passed(arguments: Arguments) -> Results:
    gradient = arguments["gradient"]
    bits = arguments["kept"].to(torch.int32)[:, None] >> torch.arange(16) & 1
    keep = bits.flatten()[: gradient.numel()].view(gradient.shape).bool()
    return (torch.where(keep, gradient.float() * float(arguments["scale"]), 0).to(gradient.dtype),)


def loss_arguments(chance: Chance) -> Arguments:
    rows, words = chance.between(0, 5), chance.choice([2, 15, 16, 17, 100])
    dtype = chance.choice([torch.float32, torch.bfloat16])
    return {
        "logits": floats(chance, rows, words, dtype=dtype),
        "target": whole(chance, words, rows),
        "peak": 0.875,
        "uniform": 0.015625,
        "padding": chance.between(-1, 3),
    }


def call_loss(arguments: Arguments) -> Results:
    losses = replace_by_gradient(*(arguments[name] for name in ("logits", "target", "peak", "uniform", "padding")))
    return losses, arguments["logits"]


def expected_of_loss(arguments: Arguments) -> Results:
    logits, target, peak, uniform = (
        arguments["logits"].double(),
        arguments["target"],
        float(arguments["peak"]),
        float(arguments["uniform"]),
    )
    log_q, padded = logits.log_softmax(1), target == arguments["padding"]
    nll = -log_q.gather(1, target[:, None]).squeeze(1)
    losses = torch.stack([peak * nll - uniform * log_q.sum(1), nll]).masked_fill(padded, 0)
    gradient = (log_q.exp() - uniform).scatter_add(1, target[:, None], torch.full_like(log_q, -peak)[:, :1])
    return losses, gradient.masked_fill(padded[:, None], 0).to(arguments["logits"].dtype)


def layer_arguments(chance: Chance) -> Arguments:
    inputs, outputs = chance.choice([1, 3, 33, 64, 67, 130]), chance.choice([1, 16, 33, 64, 65, 130])
    leading = chance.choice([(1,), (7,), (0,), (2, 3), (26,), (40,), ()])
    return {
        "weight": floats(chance, outputs, inputs),
        "bias": floats(chance, outputs) if chance.happens(0.7) else None,
        "x": floats(chance, *leading, inputs),
        "tiles": chance.between(0, 1),
    }


def whole_layer_arguments(chance: Chance) -> Arguments:
    arguments = layer_arguments(chance)
    weight, scale = rounded(arguments.pop("weight"))
    return {"weight": weight, "scale": scale, **arguments}


def call_layer(kind: Callable[..., Any], *names: str) -> Callable[[Arguments], Results]:
    def call(arguments: Arguments) -> Results:
        layer = kind(kernels(), *(arguments[name] for name in names))
        layer.tiles = arguments["tiles"]
        return (layer(arguments["x"]),)

    return call


def expected_of_int8(arguments: Arguments) -> Results:
    x, bias = arguments["x"], arguments["bias"]
    largest = x.abs().amax(-1, keepdim=True)
    quantised_x = (x * (127 / largest)).round().double()
    y = quantised_x @ arguments["weight"].double().T * arguments["scale"].double() * largest / 127
    return (y if bias is None else y + bias,)


def expected_of_bf16(arguments: Arguments) -> Results:
    return expected_of_fp32({**arguments, "x": arguments["x"].bfloat16(), "weight": arguments["weight"].bfloat16()})


def expected_of_fp32(arguments: Arguments) -> Results:
    y = arguments["x"].double() @ arguments["weight"].double().T
    return (y if arguments["bias"] is None else y + arguments["bias"],)


FUNCTIONS = {
    "attend, a source": Function(source_arguments, call_attend, expected_of_attend),
    "attend, beams": Function(history_arguments, call_attend, expected_of_attend, written=("key", "value")),
    "best": Function(search_arguments, call_search, expected_of_search, written=("values", "words", "most", "total")),
    "masks, dropped": Function(dropout_arguments, call_dropped, expected_of_dropped),
    "masks, passed": Function(gradient_arguments, lambda arguments: (passed(*arguments.values()),), expected_of_passed),
    "smoothing": Function(loss_arguments, call_loss, expected_of_loss, written=("logits",)),
    "linear8": Function(whole_layer_arguments, call_layer(NativeInt8, "weight", "scale", "bias"), expected_of_int8),
    "linear16": Function(layer_arguments, call_layer(NativeBf16, "weight", "bias"), expected_of_bf16),
    "linear32": Function(
        lambda chance: {**layer_arguments(chance), "tiles": 1},
        call_layer(NativeFp32, "weight", "bias"),
        expected_of_fp32,
    ),
    "pages": Function(
        lambda chance: {"room": floats(chance, chance.choice([0, 1, 5000]))},
        lambda arguments: (in_large_pages(arguments["room"]),),
        lambda arguments: (arguments["room"].clone(),),
    ),
}
