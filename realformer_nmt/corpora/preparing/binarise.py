"""The last stage of prepare: the data-bin that fairseq-preprocess would make of the subwords."""

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.preparing.clean_splits import splits
from realformer_nmt.corpora.progress import progress
from realformer_nmt.data_bins import sentences, vocabulary
from realformer_nmt.data_bins.vocabulary import SYMBOLS, Counts

BLOCK = 1 << 20  # bytes of text at a time


def binarise(
    texts: Path,
    languages: tuple[str, str],
    folder: Path,
    workers: int,
    dictionaries: Sequence[Path],
    joined: bool,
    quiet: bool = False,
) -> dict[str, int]:
    """Write the data-bin of the splits that are not empty, and return the number of lines of each.

    `dictionaries` are one for both languages, or the source's and the target's. Without them they are made from the
    training text, as fairseq makes them."""
    present = [name for name in splits(texts, languages[0]) if (texts / f"{name}.{languages[0]}").stat().st_size]
    counts = vocabularies(texts, languages, workers, dictionaries, joined, quiet)
    folder.mkdir(exist_ok=True)
    lines: dict[str, int] = {}
    for language, words in zip(languages, counts, strict=True):
        vocabulary.write(words, folder / f"dict.{language}.txt")
        work = functools.partial(sentences.numbered, vocabulary="\n".join(words))
        for name in present:
            text = texts / f"{name}.{language}"
            blocks = (block for _, block in ordered(work, text_blocks(text, "data-bin", quiet), workers))
            prefix = folder / f"{name}.{'-'.join(languages)}.{language}"
            number = sentences.write(prefix, len(SYMBOLS) + len(words), blocks)
            if number != lines.setdefault(name, number):
                raise UserError(f"{text} has {number:,} lines, and the other side {lines[name]:,}: prepare all again")
    return lines


def vocabularies(
    texts: Path, languages: tuple[str, str], workers: int, dictionaries: Sequence[Path], joined: bool, quiet: bool
) -> list[Counts]:
    """Return the source's and the target's dictionary."""
    if dictionaries:
        loaded = [vocabulary.read(dictionary) for dictionary in dictionaries]
        return loaded if len(loaded) == len(languages) else loaded * len(languages)
    counts = [count_words(texts / f"train.{language}", workers, quiet) for language in languages]
    if joined:
        counts = [counts[0] + counts[1]] * len(languages)
    return [vocabulary.by_frequency(each) for each in counts]


def count_words(text: Path, workers: int, quiet: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, counts_of_block in ordered(count_block, text_blocks(text, "dictionary", quiet), workers):
        counts.update(counts_of_block)
    return counts


def count_block(text: bytes) -> Counter[str]:
    return Counter(text.decode().split())


def text_blocks(text: Path, stage: str, quiet: bool) -> Iterator[bytes]:
    """Yield a text in blocks of whole lines, with a progress bar."""
    with progress(f"{stage}: {text.name}", text.stat().st_size, quiet=quiet) as bar, text.open("rb") as file:
        while lines := file.readlines(BLOCK):
            block = b"".join(lines)
            yield block
            bar.update(len(block))
