"""fairseq's dictionary: words and their counts in the order of their numbers, as a file and as made from a text."""

from collections.abc import Mapping
from pathlib import Path

from realformer_nmt.common.errors import UserError

SYMBOLS = ("<s>", "<pad>", "</s>", "<unk>")  # the first numbers; no file lists them
END, UNKNOWN = SYMBOLS.index("</s>"), SYMBOLS.index("<unk>")
MULTIPLE = 8  # a dictionary that is made from a text has a multiple of so many entries
Counts = dict[str, int]  # of words, in the order of their numbers


def read(file: Path) -> Counts:
    """Read a dictionary; raise if a line is no word with its count, or repeats a word."""
    counts: Counts = {}
    with file.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, _, count = line.rstrip().rpartition(" ")
            if not word or not count.isdecimal():
                raise UserError(f"{file}, line {number}: {line.rstrip()!r}, expected a word, a space and its count")
            if word in counts or word in SYMBOLS:
                raise UserError(f"{file}, line {number}: the word {word!r} is there twice; remove one of them")
            counts[word] = int(count)
    return counts


def write(counts: Mapping[str, int], file: Path) -> None:
    file.write_text("".join(f"{word} {count}\n" for word, count in counts.items()), encoding="utf-8", newline="\n")


def by_frequency(counts: Mapping[str, int]) -> Counts:
    """Return the dictionary of a text with these counts: frequent words first, equally frequent ones by code points."""
    words = sorted((word for word in counts if word not in SYMBOLS), key=lambda word: (-counts[word], word))
    vocabulary = {word: counts[word] for word in words}
    number = 0
    while (len(SYMBOLS) + len(vocabulary)) % MULTIPLE:
        vocabulary.setdefault(f"madeupword{number:04d}", 0)
        number += 1
    return vocabulary
