"""Ranges of options that take a number."""

import math
import sys
from typing import NamedTuple

from realformer_nmt.common.errors import OptionError

LARGEST = 2**31 - 1  # fairseq counts in 32 bits
HUGE = sys.float_info.max
SEEDS = 2**32 - 1  # numpy's largest
PROCESSES = 1024
SAMPLES = 100_000  # what fits into memory beside a test set
MOST_BEAM = 1000  # what fits into memory and finishes
MOST_SEEDS = 1000  # per grid


class Number(NamedTuple):
    """Range of an option that takes a number."""

    least: float
    most: float
    words: str
    none: float | None = None  # a value below the least, which turns the option off

    def check(self, option: str, value: float) -> None:
        if value != self.none and not self.least <= value <= self.most:  # NaN is in no range
            too_large = self.most == LARGEST and value > self.most
            raise OptionError(f"{option} {value}: allowed is {f'{LARGEST:,} at most' if too_large else self.words}")


def whole(least: int, most: int = LARGEST, none: int | None = None) -> Number:
    words = f"{least:,} or more" if most == LARGEST else f"{least:,} to {most:,}"
    return Number(least, most, words if none is None else f"{none}, for none, or {words}", none)


def check_length_limit(max_len_a: float, max_len_b: int) -> None:
    """Raise an error for a translation of a * source length + b tokens that may have none."""
    if max_len_a + max_len_b < 1:
        raise OptionError(f"max_len_a={max_len_a}, max_len_b={max_len_b}: allowed is 1 token or more")


LENPEN = Number(-10, 10, "a finite number, -10 to 10")
MAX_LEN_A, MAX_LEN_B = Number(0, 100, "0 to 100"), whole(0, 10_000)
FINITE = Number(-HUGE, HUGE, "a finite number")
POSITIVE = Number(math.ulp(0), HUGE, "a number above 0")
FRACTION = Number(math.ulp(0), math.nextafter(1, 0), "a number above 0 and below 1")
SEED = whole(0, SEEDS)
