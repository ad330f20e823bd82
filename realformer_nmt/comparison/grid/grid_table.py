"""The table of a grid's file: keys in their places, depths as text, allowed settings of [budget] and [train]."""

from collections.abc import Collection, Mapping
from typing import Any

from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.toml_tables import Table, TableError
from realformer_nmt.protocols import command
from realformer_nmt.protocols.protocol import PRECISION_FLAGS

TABLES = ("axes", "budget", "failure", "override", "prepare", "slurm", "train")
BUDGET = ("epochs", "updates", "tokens-a-step", "max-tokens", "average", "precision")  # of `realformer-nmt train`
ELSEWHERE = {  # flags that [train] leaves to another key, which says the same
    "max-epoch": "budget: epochs, or by an axis",
    "max-update": "budget: updates, or by an axis",
    "max-tokens": "budget: max-tokens",
    "update-freq": "budget: tokens-a-step",
    "seed": "seeds",
    **dict.fromkeys(PRECISION_FLAGS, "budget: precision"),
}


def check_places(table: Table, keys: Collection[str]) -> None:
    """Refuse a key of the grid below a [table], which TOML takes for a key of that table."""
    for name, inner in table.items():
        misplaced = [key for key in inner if key in keys and key not in TABLES] if isinstance(inner, dict) else []
        if misplaced:
            raise TableError(name, f"{misplaced[0]} is a key of the grid itself: write it above the first [table]")


def with_texts(table: Table) -> Table:
    """Return the table with depths as text: layers = [6, "60-12"], or layers = 6 of an override."""
    table = {**table, **({"layers": text_of(table["layers"])} if "layers" in table else {})}
    rules = table.get("override")
    if isinstance(rules, list):
        table["override"] = [with_texts(rule) if isinstance(rule, dict) else rule for rule in rules]
    return table


def text_of(depth: object) -> object:
    if isinstance(depth, list):
        return [text_of(each) for each in depth]
    return str(depth) if type(depth) is int else depth


def check_budget(budget: Mapping[str, Any]) -> None:
    for name, value in budget.items():
        if name not in BUDGET:
            raise ValueError(not_allowed("budget", name, BUDGET))
        if name == "precision" and value not in command.PRECISIONS:
            raise ValueError(not_allowed("budget: precision", str(value), command.PRECISIONS))
        if name != "precision" and (type(value) is not int or value < 1):
            raise ValueError(f"budget: {name} {value}: allowed is a whole number, 1 or more")
