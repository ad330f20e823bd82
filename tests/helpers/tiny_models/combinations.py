"""Combinations of a model's parts: a pairwise cover of all values."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.heads import HEADS
from realformer_nmt.model.attention.scores import SOURCES, longest
from realformer_nmt.model.norms import NORMS
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.topology import Stack

Parts = tuple[str, ...]  # values of FAMILY_OPTIONS, in their order
Cell = tuple[int, str]  # a column and a value of it
Pair = tuple[Cell, Cell]  # the smaller column first


def pairs(row: Iterable[str]) -> list[Pair]:
    """Return the pairs of values that a row holds."""
    return [*itertools.combinations(enumerate(row), 2)]


def all_pairs(columns: Sequence[Sequence[str]]) -> list[Pair]:
    cells = [[(column, value) for value in values] for column, values in enumerate(columns)]
    return [pair for one, other in itertools.combinations(cells, 2) for pair in itertools.product(one, other)]


def pairwise_cover(columns: Sequence[Sequence[str]], forbidden: Iterable[Pair] = ()) -> list[Parts]:
    """Return rows, a value of each column, that hold every pair of values but the forbidden ones.

    A row begins with the first pair that is missing. Each other column takes the value with which most missing pairs
    come in, of several the one that was used least.
    """
    barred = set(forbidden)
    missing = dict.fromkeys(pair for pair in all_pairs(columns) if pair not in barred)
    used: Counter[Cell] = Counter()
    rows: list[Parts] = []

    def worth(cell: Cell, row: dict[int, str]) -> tuple[bool, int, int]:
        met = [(min(cell, other), max(cell, other)) for other in row.items()]
        return barred.isdisjoint(met), sum(pair in missing for pair in met), -used[cell]

    while missing:
        row = dict(next(iter(missing)))
        for column, values in enumerate(columns):
            if column not in row:
                _, row[column] = max(((column, value) for value in values), key=lambda cell: worth(cell, row))
        rows.append(tuple(row[column] for column in range(len(columns))))
        used.update(row.items())
        for pair in pairs(rows[-1]):
            missing.pop(pair, None)
    return rows


MIXTURES = ["random+dot", "dense+dot", "random+dense+dot"]
AS_B2T = ("ds_init", "sub_ln", "t_fixup")  # initial weights alone, which no topology sees
COLUMNS: list[list[str]] = [
    [*TOPOLOGIES],
    [name for name in SCALINGS if name not in AS_B2T],
    [*SOURCES, *MIXTURES],
    [*CARRIES],
    [*NORMS],
    [*HEADS],
]
WEIGHING = [name for name, scaling in SCALINGS.items() if scaling(Stack("encoder", 2, 2)).weighs]
WITHOUT_SHORTCUTS = [name for name, topology in TOPOLOGIES.items() if not topology.has_shortcuts]
WITH_TABLES = [source for source in COLUMNS[2] if longest(source, 1)]
OF_KEYS = [name for name, carry in CARRIES.items() if carry.needs_keys]
FORBIDDEN: list[Pair] = [
    *(((0, topology), (1, scaling)) for topology in WITHOUT_SHORTCUTS for scaling in WEIGHING),
    *(((2, source), (3, carry)) for source in WITH_TABLES for carry in OF_KEYS),
]


def within_bounds(rows: Iterable[Parts]) -> Iterator[Parts]:
    """Yield rows; two for one that ADMIN's profile refuses, as layers that run twice without a norm overflow it."""
    for topology, scaling, source, carry, norm, heads in rows:
        if topology == "rk2" and scaling in PROFILED and norm == "none":
            yield topology, scaling, source, carry, "layer", heads
            yield topology, "none", source, carry, norm, heads
        else:
            yield topology, scaling, source, carry, norm, heads


PROFILED = ("admin", "admin_decayed")
COVER = [*within_bounds(pairwise_cover(COLUMNS, FORBIDDEN))]
