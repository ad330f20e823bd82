"""Arguments that nobody would give a kernel: calls that once went wrong, and random other types, shapes and values."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reliability.native_calls import Arguments

DTYPES = (torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int64, torch.bool)
NUMBERS = (0, -1, 1, 2, 2**31, 2**63 - 1, -(2**63), 2**64, None, 1.5, float("nan"), "1", True)


def other_size(tensor: Tensor, chance: Random) -> Tensor:
    """Make one dimension shorter, longer or empty."""
    if not tensor.numel() or not tensor.dim():
        return tensor.unsqueeze(0)
    dimension = chance.randrange(tensor.dim())
    size = tensor.size(dimension)
    new_size = chance.choice((0, size - 1, size + 1, 2 * size))
    return torch.cat([tensor, tensor], dimension).narrow(dimension, 0, new_size).clone()


def other_dimensions(tensor: Tensor, chance: Random) -> Tensor:
    changed = (tensor.flatten(), tensor.unsqueeze(chance.randrange(tensor.dim() + 1)), tensor[(None,) * 6], tensor.mT)
    return chance.choice(changed)


def other_strides(tensor: Tensor, chance: Random) -> Tensor:
    """Move the same numbers to other places in memory, or let the first stand for all."""
    order = chance.sample(range(tensor.dim()), tensor.dim())
    back = [order.index(dimension) for dimension in range(tensor.dim())]
    changed = (
        tensor.permute(order).contiguous().permute(back),
        torch.stack([tensor, tensor], -1)[..., 1],
        torch.cat([tensor.flatten(), tensor.flatten()])[tensor.numel() :].view(tensor.shape),
        tensor.narrow(0, 0, 1).expand(tensor.shape),
    )
    return chance.choice(changed)


def negated(tensor: Tensor, _chance: Random) -> Tensor:
    """Return the same numbers, of which memory holds the opposite."""
    return torch.complex(torch.zeros_like(tensor), -tensor).conj().imag


def other_values(tensor: Tensor, chance: Random) -> Tensor:
    """Put a whole number beyond what is allowed among the numbers."""
    changed = tensor.clone()
    changed.view(-1)[chance.randrange(tensor.numel())] = chance.choice((-1, 100, 2**31, 2**40, 2**63 - 1, -(2**63)))
    return changed


CHANGES: dict[str, Callable[[Tensor, Random], Any]] = {
    "other type": lambda tensor, chance: tensor.to(chance.choice(DTYPES)),
    "other device": lambda tensor, _: tensor.to("meta"),
    "other layout": lambda tensor, _: tensor.to_sparse(),
    "no tensor": lambda tensor, chance: chance.choice((None, 3, 1.5, "tensor", [1.0, 2.0], tensor.tolist())),
    "other size": other_size,
    "other dimensions": other_dimensions,
    "other strides": other_strides,
    "negated": negated,
    "other values": other_values,
}


def changed(value: Any, chance: Random) -> tuple[str, Any]:
    """Return how an argument is changed, and the changed argument."""
    if not isinstance(value, Tensor):
        number = chance.choice(NUMBERS)
        return f"= {number!r}", number
    name, change = chance.choice([*CHANGES.items()])
    try:
        return name, change(value, chance)
    except (RuntimeError, IndexError, ValueError):
        return "as it was: torch has no such tensor", value


class Odd(NamedTuple):
    function: str  # in native_calls
    change: Callable[[Arguments], Arguments]  # what is different from arguments that fit


def _one(name: str, change: Callable[[Tensor], object]) -> Callable[[Arguments], Arguments]:
    return lambda arguments: {name: change(arguments[name])}


def _all(kind: torch.dtype | str) -> Callable[[Arguments], Arguments]:
    """Return a change of every tensor of floats to another type or device."""
    return lambda arguments: {
        name: value.to(kind)
        for name, value in arguments.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }


def _mask_of_floats(arguments: Arguments) -> Arguments:
    return {"hidden": torch.zeros(len(arguments["query"]), 1, 1, arguments["key"].size(2))}


BEAMS = "attend, beams"
KNOWN = {  # each read or wrote outside its arrays, or ended the process, and has to be refused
    "origin beyond the beams": Odd(BEAMS, _one("origin", lambda origin: origin + 4)),
    "origin below 0": Odd(BEAMS, _one("origin", lambda origin: origin - 4)),
    "queries without an origin": Odd(BEAMS, lambda _: {"origin": None}),
    "last keys of fewer heads": Odd(BEAMS, _one("own_key", lambda key: key[:, 1:])),
    "last keys as long as the keys": Odd(BEAMS, lambda all_: {f"own_{name}": all_[name] for name in ("key", "value")}),
    "keys as short as the last": Odd(BEAMS, lambda all_: {name: all_[f"own_{name}"] for name in ("key", "value")}),
    "last keys alone": Odd(BEAMS, lambda _: {"own_value": None}),
    "no positions": Odd(BEAMS, lambda all_: {name: all_[name][:, :, :0] for name in ("key", "value", "origin")}),
    "mask of floats": Odd("attend, a source", _mask_of_floats),
    "best, more rows": Odd("best", _one("more", lambda more: torch.cat([more, more, more]))),
    "best, more rows than there are": Odd("best", lambda all_: {"rows": 1, "logits": all_["logits"].repeat(9, 1)}),
    "best of 0": Odd("best", lambda all_: {"number": 0, "values": all_["values"][:, :0]}),
    "dropout, few random numbers": Odd("masks, dropped", _one("random", lambda random: random[:-1].clone())),
    "dropout, few bits": Odd("masks, passed", _one("bits", lambda bits: bits[:-1].clone())),
    "loss, int8": Odd("smoothing", _one("logits", lambda logits: logits.to(torch.int8))),
    "pages, more than there is": Odd("pages", lambda _: {"room": torch.zeros(1).expand(2**61 - 1)}),
    **{f"{name}, fp16": Odd(name, _all(torch.float16)) for name in (BEAMS, "best")},
    **{f"{name}, no memory": Odd(name, _all("meta")) for name in (BEAMS, "best", "smoothing")},
}
for _name in ("linear8", "linear16", "linear32"):
    KNOWN[f"{_name}, no inputs"] = Odd(_name, lambda all_: {"x": all_["x"][..., :0], "weight": all_["weight"][:, :0]})
    KNOWN[f"{_name}, a scalar"] = Odd(_name, _one("x", lambda _: torch.tensor(1.0)))
    KNOWN[f"{_name}, a short bias"] = Odd(_name, lambda all_: {"bias": torch.ones(len(all_["weight"]) - 1)})
