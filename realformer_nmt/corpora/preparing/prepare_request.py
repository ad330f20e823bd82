"""The options of `realformer-nmt prepare`: a corpus or the user's own files, and what is done to the text."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from realformer_nmt.common.numbers import HUGE, PROCESSES, Number, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.corpora.manifest import shipped
from realformer_nmt.corpora.subwords.subword_methods import DEFAULT, LEARNT, METHODS

OWN_FILES = "your own files, instead of CORPUS (.gz files work too)"
TEXT = "what is done to the text (default: as CORPUS says)"
PAIR = ("SOURCE", "TARGET")
MOST_PIECES = 1_000_000  # with more, learning does not end
Pair = tuple[Path, Path]


def cores() -> int:
    """Return the number of cores that this process may use: on a cluster fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class PrepareRequest(Request):
    """From the archives of a corpus, or files of your own, to a data-bin for fairseq-train. Stages that are done are
    skipped. After an interruption the same command resumes."""

    subcommand: ClassVar[str] = "prepare"
    implementation: ClassVar[str] = "realformer_nmt.corpora.preparing.prepare"
    examples: ClassVar[str] = """examples:
  realformer-nmt prepare wmt14_en_de --folder data/wmt14_en_de --archives ~/downloads
  realformer-nmt prepare wmt14_en_de --folder data/papers --subwords moses_bpe
  realformer-nmt prepare --source en --target de --train a.en a.de --valid v.en v.de --test t.en t.de --folder data/own
  realformer-nmt prepare --like data/wmt14_en_de --train a.en a.de --held-out 100 --folder data/more
"""

    corpus: str | None = argument(f"{', '.join(shipped())}, or FILE.toml of your own", None, metavar="CORPUS")
    folder: Path = option("where data-bin/, subwords/ and prepare.json are made")
    workers: int = option("processes (default: all cores)", cores(), metavar="N", range=whole(1, PROCESSES))
    keep: bool = option("keep the texts between the stages", False)
    quiet: bool = option("no progress bars", False)
    verify: bool = option("only check that every file in FOLDER is as prepared", False)
    archives: Path | None = option("archives that you have; they are verified and not copied", None, metavar="DIR")
    source: str | None = option("language of the first file of each pair", None, metavar="LANGUAGE", group=OWN_FILES)
    target: str | None = option("language of the second file", None, metavar="LANGUAGE", group=OWN_FILES)
    train: tuple[Pair, ...] = option("may be repeated", (), metavar=PAIR, group=OWN_FILES)
    valid: tuple[Pair, ...] = option("may be repeated", (), metavar=PAIR, group=OWN_FILES)
    test: tuple[Pair, ...] = option("may be repeated: test, test1, test2 ...", (), metavar=PAIR, group=OWN_FILES)
    like: Path | None = option(
        "prepare them as FOLDER was, for a model that was trained on it", None, metavar="FOLDER", group=OWN_FILES
    )
    held_out: int | None = option(
        "instead of --valid: take every N-th pair of --train", None, metavar="N", group=OWN_FILES, range=whole(2)
    )
    subwords: str | None = option(f"default: {DEFAULT}, on raw text", None, choices=LEARNT, group=TEXT)
    vocabulary: int | None = option(
        "; ".join(f"{name}: {METHODS[name].size_help}" for name in LEARNT),
        None,
        metavar="N",
        group=TEXT,
        range=whole(1, MOST_PIECES),
    )
    deduplicate: bool = option("keep only the first of equal training pairs", False, group=TEXT)
    normalise_punctuation: bool | None = option(
        "normalise training and validation data, as Moses does", None, group=TEXT
    )
    remove_nonprinting: bool | None = option(
        "make spaces of characters that are not printed, also of joiners within Persian or Sinhala words",
        None,
        group=TEXT,
    )
    normalise_test: bool | None = option(
        "normalise test data too, and remove non-printing characters", None, group=TEXT
    )
    lowercase: bool | None = option("lower case, in all but the raw texts", None, group=TEXT)
    min_length: int | None = option(
        "fewest tokens on each side of a training pair", None, metavar="N", group=TEXT, range=whole(1)
    )
    max_length: int | None = option("most tokens on each side", None, metavar="N", group=TEXT, range=whole(1))
    ratio: float | None = option(
        "largest ratio of the longer side's tokens to the shorter's",
        None,
        metavar="R",
        group=TEXT,
        range=Number(1, HUGE, "1 or more, and finite"),
    )
    invalid_utf8: Literal["replace", "refuse"] | None = option(
        "bytes that are not UTF-8: replace them by U+FFFD, or refuse the text", None, group=TEXT
    )
