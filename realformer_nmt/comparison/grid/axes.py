"""Axes of a grid beside family, depth and seed: each is a row of AXES, which maps its value to settings."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.tasks import SIDES

Value = float
Point = tuple[tuple[str, Value], ...]  # one (axis, value) for each axis of a grid
Place = tuple[str, Point]  # depth, and the values on the axes
Group = tuple[str, Place]  # with the family


class Axis(NamedTuple):
    label: str
    table: str  # the grid's table that has these flags: train or budget; or data
    flags: Mapping[str, int]  # each is set to the value times this number
    recorded: tuple[str, ...]  # names of the flags in a cell's record
    whole: bool = True
    zero: bool = False  # whether a value may be 0
    most: float = 2**31 - 1
    instead: tuple[str, ...] = ()  # flags that set the same in another way


AXES = {
    "lr": Axis("learning rate", "train", {"lr": 1}, ("lr",), whole=False),
    "warmup": Axis("warm-up (updates)", "train", {"warmup-updates": 1}, ("warmup_updates",), zero=True),
    "dropout": Axis("dropout", "train", {"dropout": 1}, ("dropout",), whole=False, zero=True, most=0.9),
    "width": Axis(  # the inner width is 4 times it, as Vaswani et al. 2017 have it
        "width",
        "train",
        {f"{side}-{name}": times for name, times in (("embed-dim", 1), ("ffn-embed-dim", 4)) for side in SIDES},
        tuple(f"{side}_{name}" for name in ("embed_dim", "ffn_embed_dim") for side in SIDES),
    ),
    "epochs": Axis("epochs", "budget", {"epochs": 1}, ("max_epoch", "max_update"), instead=("updates",)),
    "updates": Axis("updates", "budget", {"updates": 1}, ("max_update", "max_epoch"), instead=("epochs",)),
}
AXES["data"] = Axis("share of the training pairs", "data", {}, (), whole=False, most=1)  # sets the data-bin


def check(axes: Mapping[str, Any]) -> None:
    for name, values in axes.items():
        if name not in AXES:
            raise ValueError(not_allowed("axes:", name, AXES))
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
    if type(value) not in allowed or not (0 <= value <= axis.most) or (value == 0 and not axis.zero):
        kind = "whole number" if axis.whole else "number"
        least = "from 0" if axis.zero else "above 0"
        raise ValueError(f"axes: {name} {value!r}: allowed is a {kind} {least}, {shown(axis.most)} at most")


def check_free(axes: Mapping[str, Any], table: str, options: Mapping[str, Any]) -> None:
    """Refuse a flag of a table that an axis sets already."""
    for name in axes:
        axis = AXES[name]
        both = [flag for flag in (*axis.flags, *axis.instead) if axis.table == table and flag in options]
        if both:
            raise ValueError(f"{name} is an axis of this grid, and [{table}] sets {both[0]} too: leave one of them out")


def options(table: str, point: Point, sides: Sequence[str] = SIDES) -> dict[str, Value]:
    """Return the settings of [train] or [budget] at a point, without those of a side that the model does not have."""
    absent = tuple(f"{side}-" for side in SIDES if side not in sides)
    settings: dict[str, Value] = {}
    for name, value in point:
        axis = AXES[name]
        if axis.table == table:
            for flag, times in axis.flags.items():
                if not flag.startswith(absent):
                    settings[flag] = value if times == 1 else times * value
    return settings


def shown(value: Value) -> str:
    return f"{value:g}"


def point_name(point: Point) -> str:
    """Return the point as it stands in the name of a cell: lr0.001-updates500."""
    return "-".join(f"{name}{shown(value)}" for name, value in point)
