"""Options of a translation, and its result."""

from argparse import Namespace
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import LENPEN, MAX_LEN_A, MAX_LEN_B, MOST_BEAM, check_length_limit, whole
from realformer_nmt.evaluation.translating.translate import EXACT

RANGES = {
    "beam": whole(1, MOST_BEAM),
    "nbest": whole(1, MOST_BEAM),
    "lenpen": LENPEN,
    "max_len_a": MAX_LEN_A,
    "max_len_b": MAX_LEN_B,
    "max_tokens": whole(1),
}


class Hypothesis(NamedTuple):
    text: str  # detokenised
    score: float  # log2 of its probability per token, as fairseq-generate prints it
    source: list[str]  # subwords that the model has read
    pieces: list[str]  # subwords that it has written
    alignment: list[tuple[int, int]]  # indices in `source` and in `pieces`, if alignments are requested


@dataclass(frozen=True)
class SearchOptions:
    """Options of the beam search: fairseq-generate's, with its defaults."""

    beam: int = 5
    nbest: int = 1
    lenpen: float = 1.0  # below 1: shorter, above 1: longer
    max_len_a: float = 0.0  # at most a * source length + b tokens
    max_len_b: int = 200
    max_tokens: int = 12_000  # per batch, padding included
    precision: str = EXACT  # of the products with weights: fp32, and on a CPU bf16 or int8
    alignments: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) not in ((float, int) if field.type is float else (field.type,)):
                raise UserError(f"{field.name}={value!r}: give a value of the kind of its default, {field.default!r}")
        for name, allowed in RANGES.items():
            allowed.check(name, getattr(self, name))
        check_length_limit(self.max_len_a, self.max_len_b)
        if self.nbest > self.beam:
            raise UserError(f"nbest={self.nbest} of beam={self.beam}: give a beam of {self.nbest} or more")


def options_of(decoding: SearchOptions) -> Namespace:
    return Namespace(**asdict(decoding), print_alignment="hard" if decoding.alignments else None)
