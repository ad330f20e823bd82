"""Odd calls that once read or wrote outside their arrays, or ended the process: each has to be refused."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from reliability.native_calls import Arguments


class Odd(NamedTuple):
    function: str  # in native_calls
    change: Callable[[Arguments], Arguments]  # what is different from arguments that fit


def _all(kind: torch.dtype | str) -> Callable[[Arguments], Arguments]:
    """Return a change of every tensor of floats to another type or device."""

    def change(arguments: Arguments) -> Arguments:
        return {name: _converted(value, kind) for name, value in arguments.items()}

    return change


def _converted(value: object, kind: torch.dtype | str) -> object:
    if not isinstance(value, Tensor) or (isinstance(kind, torch.dtype) and not value.is_floating_point()):
        return value
    return value.to(kind)


def _one(name: str, change: Callable[[Tensor], object]) -> Callable[[Arguments], Arguments]:
    return lambda arguments: {name: change(arguments[name])}


def _without_inputs(arguments: Arguments) -> Arguments:
    return {"x": arguments["x"][..., :0], "weight": arguments["weight"][:, :0]}


def _mask(arguments: Arguments, dtype: torch.dtype) -> Arguments:
    return {"hidden": torch.zeros(len(arguments["query"]), 1, 1, arguments["key"].size(2), dtype=dtype)}


def _short_bias(arguments: Arguments) -> Arguments:
    return {"bias": torch.ones(len(arguments["weight"]) - 1)}


BEAMS, SOURCE = "attend, beams", "attend, a source"
LAYERS = ("linear8", "linear16", "linear32")
KNOWN = {
    "fp16": Odd(BEAMS, _all(torch.float16)),
    "no memory": Odd(BEAMS, _all("meta")),
    "origin of int32": Odd(BEAMS, _one("origin", lambda origin: origin.int())),
    "origin of floats": Odd(BEAMS, _one("origin", lambda origin: origin.float())),
    "origin beyond the beams": Odd(BEAMS, _one("origin", lambda origin: origin + 4)),
    "origin far away": Odd(BEAMS, _one("origin", lambda origin: origin + 2**40)),
    "origin below 0": Odd(BEAMS, _one("origin", lambda origin: origin - 4)),
    "queries without an origin": Odd(BEAMS, lambda _arguments: {"origin": None}),
    "own keys of fewer heads": Odd(BEAMS, _one("own_key", lambda key: key[:, 1:])),
    "own keys of fewer beams": Odd(BEAMS, _one("own_key", lambda key: key[:, :, 1:])),
    "own keys as long as the keys": Odd(
        BEAMS, lambda arguments: {f"own_{name}": arguments[name] for name in ("key", "value")}
    ),
    "keys as short as the own": Odd(
        BEAMS, lambda arguments: {name: arguments[f"own_{name}"] for name in ("key", "value")}
    ),
    "own keys alone": Odd(BEAMS, lambda _arguments: {"own_value": None}),
    "no positions": Odd(
        BEAMS, lambda arguments: {name: arguments[name][:, :, :0] for name in ("key", "value", "origin")}
    ),
    "mask of floats": Odd(SOURCE, lambda arguments: _mask(arguments, torch.float32)),
    "mask of int64": Odd(SOURCE, lambda arguments: _mask(arguments, torch.int64)),
    "best, more rows": Odd("best", _one("more", lambda more: torch.cat([more, more, more]))),
    "best, more rows than there are": Odd(
        "best", lambda arguments: {"rows": 1, "logits": arguments["logits"].repeat(9, 1)}
    ),
    "best of 0": Odd("best", lambda arguments: {"number": 0, "values": arguments["values"][:, :0]}),
    "best of fewer than 0": Odd("best", lambda _arguments: {"number": -1}),
    "best, fp16": Odd("best", _all(torch.float16)),
    "best, no memory": Odd("best", _all("meta")),
    "dropout, few random numbers": Odd("masks, dropped", _one("random", lambda random: random[:-1].clone())),
    "dropout, random int8": Odd("masks, dropped", _one("random", lambda random: random.to(torch.int8))),
    "dropout, few bits": Odd("masks, passed", _one("kept", lambda bits: bits[:-1].clone())),
    "dropout, bits of int8": Odd("masks, passed", _one("kept", lambda bits: bits.to(torch.int8))),
    "loss, int8": Odd("smoothing", _one("logits", lambda logits: logits.to(torch.int8))),
    "loss, no memory": Odd("smoothing", _all("meta")),
    "pages, more than there is": Odd("pages", lambda _arguments: {"room": torch.zeros(1).expand(2**61 - 1)}),
    **{f"{name}, no inputs": Odd(name, _without_inputs) for name in LAYERS},
    **{f"{name}, a scalar": Odd(name, _one("x", lambda _x: torch.tensor(1.0))) for name in LAYERS},
    **{f"{name}, a short bias": Odd(name, _short_bias) for name in LAYERS},
}
