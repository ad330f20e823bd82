"""Settings that [budget] and [train] of a grid may have, and their checks."""

from collections.abc import Mapping
from typing import Any

from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.protocols import command
from realformer_nmt.protocols.protocol import PRECISION_FLAGS

BUDGET = ("epochs", "updates", "tokens-a-step", "max-tokens", "average", "precision")  # of `realformer-nmt train`
ELSEWHERE = {  # flags that [train] leaves to another key, which says the same
    "max-epoch": "budget: epochs, or by an axis",
    "max-update": "budget: updates, or by an axis",
    "max-tokens": "budget: max-tokens",
    "update-freq": "budget: tokens-a-step",
    "seed": "seeds",
    **dict.fromkeys(PRECISION_FLAGS, "budget: precision"),
}


def check_budget(budget: Mapping[str, Any]) -> None:
    for name, value in budget.items():
        if name not in BUDGET:
            raise ValueError(not_allowed("budget", name, BUDGET))
        if name == "precision" and value not in command.PRECISIONS:
            raise ValueError(not_allowed("budget: precision", str(value), command.PRECISIONS))
        if name != "precision" and (type(value) is not int or value < 1):
            raise ValueError(f"budget: {name} {value}: allowed is a whole number, 1 or more")
