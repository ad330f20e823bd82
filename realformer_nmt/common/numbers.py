"""Which numbers an option of `realformer-nmt` takes: each option says it, and is checked as it is read."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from realformer_nmt.common.errors import UserError

LARGEST = 2**31 - 1  # that fairseq counts to
HUGE = sys.float_info.max
SEEDS = 2**32 - 1  # numpy's largest
PROCESSES = 1024
SAMPLES = 100_000  # that memory has room for, beside a test set
MOST_BEAM = 1000  # that translates in the time and memory of this world
MOST_SEEDS = 1000  # of a grid, at once


@dataclass(frozen=True)
class Number:
    """The type of an option that takes a number."""

    read: Callable[[str], float]
    least: float
    most: float
    words: str
    none: float | None = None  # a value below the least, which turns off what the option is for

    @property
    def __name__(self) -> str:
        """As argparse calls it where the text is no such number."""
        return "int" if self.read is int else "float"

    def __call__(self, text: str) -> float:
        return self.read(text)

    def check(self, option: str, value: float) -> None:
        if value != self.none and not self.least <= value <= self.most:  # NaN is in no range
            endless = self.most == LARGEST and value > self.most
            raise UserError(f"{option} {value}: allowed is {f'{LARGEST:,} at most' if endless else self.words}")


def whole(least: int, most: int = LARGEST, none: int | None = None) -> Number:
    words = f"{least:,} or more" if most == LARGEST else f"{least:,} to {most:,}"
    return Number(int, least, most, words if none is None else f"{none}, for none, or {words}", none)


def real(least: float, most: float, words: str) -> Number:
    return Number(float, least, most, words)


LENPEN = real(-10, 10, "a finite number, -10 to 10")
MAX_LEN_A, MAX_LEN_B = real(0, 100, "0 to 100"), whole(0, 10_000)
FINITE = real(-HUGE, HUGE, "a finite number")
POSITIVE = real(math.ulp(0), HUGE, "a number above 0")
FRACTION = real(math.ulp(0), math.nextafter(1, 0), "a number above 0 and below 1")
SEED = whole(0, SEEDS)


class Store(argparse.Action):
    """Store what was given, as argparse does, if it is in the option's range."""

    def __call__(
        self, _: argparse.ArgumentParser, args: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if isinstance(self.type, Number):
            numbers: Sequence[float] = values if isinstance(values, list) else [values]
            for number in numbers:
                self.type.check(option or self.dest, number)
        setattr(args, self.dest, values)
