"""Axes of a grid beside family, depth and seed: an axis is a row of AXES, and says which settings its value becomes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from realformer_nmt.common.option_choice import unknown
from realformer_nmt.protocols.tasks import SIDES

Value = float
Point = tuple[tuple[str, Value], ...]  # on each axis of a grid


class Axis(NamedTuple):
    label: str
    table: str  # of a grid, which has its flags: train or budget; or data
    flags: Mapping[str, int]  # each so many times the value
    recorded: tuple[str, ...]  # their names in a cell's record
    whole: bool = True
    most: float = 2**31 - 1
    instead: tuple[str, ...] = ()  # flags that say the same otherwise


AXES = {
    "lr": Axis("learning rate", "train", {"lr": 1}, ("lr",), whole=False),
    "warmup": Axis("warm-up (updates)", "train", {"warmup-updates": 1}, ("warmup_updates",)),
    "dropout": Axis("dropout", "train", {"dropout": 1}, ("dropout",), whole=False, most=0.9),
    "width": Axis(  # the inner width is 4 times it, as Vaswani et al. 2017 have it
        "width",
        "train",
        {f"{side}-{name}": times for name, times in (("embed-dim", 1), ("ffn-embed-dim", 4)) for side in SIDES},
        tuple(f"{side}_{name}" for name in ("embed_dim", "ffn_embed_dim") for side in SIDES),
    ),
    "epochs": Axis("epochs", "budget", {"epochs": 1}, ("max_epoch", "max_update"), instead=("updates",)),
    "updates": Axis("updates", "budget", {"updates": 1}, ("max_update", "max_epoch"), instead=("epochs",)),
}
AXES["data"] = Axis("share of the training pairs", "data", {}, (), whole=False, most=1)  # its data-bin is what tells
ZERO = ("dropout", "warmup")  # may be 0


def check(axes: Mapping[str, Any]) -> None:
    for name, values in axes.items():
        if name not in AXES:
            raise ValueError(unknown("axes:", name, AXES))
        if type(values) is not list or not values:
            raise ValueError(f"axes: {name} {values!r}: allowed is a list of one value or more")
        for value in values:
            check_value(name, value)
        if len({shown(value) for value in values}) < len(values):
            raise ValueError(f"axes: {name} {values}: a value is named twice; name each once")
    if "epochs" in axes and "updates" in axes:
        raise ValueError("axes: epochs and updates both say how long a training is: keep one of them")


def check_value(name: str, value: Any) -> None:
    axis = AXES[name]
    allowed = (int,) if axis.whole else (int, float)
    if type(value) not in allowed or not (0 <= value <= axis.most) or (value == 0 and name not in ZERO):
        kind = "whole number" if axis.whole else "number"
        least = "from 0" if name in ZERO else "above 0"
        raise ValueError(f"axes: {name} {value!r}: allowed is a {kind} {least}, {shown(axis.most)} at most")


def check_free(axes: Mapping[str, Any], table: str, options: Mapping[str, Any]) -> None:
    """That nothing else sets what an axis sets."""
    for name in axes:
        axis = AXES[name]
        both = [flag for flag in (*axis.flags, *axis.instead) if axis.table == table and flag in options]
        if both:
            raise ValueError(f"{name} is an axis of this grid, and [{table}] sets {both[0]} too: leave one of them out")


def options(table: str, point: Point, sides: Sequence[str] = SIDES) -> dict[str, Value]:
    """A cell's settings of [train] or [budget] by where it stands, of the sides that its model has."""
    others = tuple(f"{side}-" for side in SIDES if side not in sides)
    rows = [(AXES[name], value) for name, value in point if AXES[name].table == table]
    found = {flag: value if times == 1 else times * value for axis, value in rows for flag, times in axis.flags.items()}
    return {flag: value for flag, value in found.items() if not flag.startswith(others)}


def measured(point: Point, settings: Mapping[str, Any]) -> dict[str, Value]:
    """By a cell's record, where there is one."""
    names = {name: next(iter(AXES[name].recorded), name) for name, _ in point}
    return {name: number(settings.get(names[name], value)) for name, value in point}


def number(value: Any) -> Value:
    """fairseq has a learning rate for each epoch."""
    found: Value = value[0] if isinstance(value, list) else value
    return found


def shown(value: Value) -> str:
    return f"{value:g}"


def named(point: Point) -> str:
    """As in the name of a cell: lr0.001-updates500."""
    return "-".join(f"{name}{shown(value)}" for name, value in point)
