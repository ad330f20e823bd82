"""moses_bpe: the papers' protocol, on tokenised text, in subword-nmt's format (Sennrich et al., arXiv 1508.07909)."""

import contextlib
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sacremoses import MosesDetokenizer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.progress import shown
from realformer_nmt.corpora.read_segments import Block
from realformer_nmt.corpora.subword_methods import CODES
from realformer_nmt.corpora.subwords import Lines, Surface, TrainingTexts
from realformer_nmt.data_bins.prepare_record import check_prepared

JOINT = re.compile(r"@@( |$)")
TYPES = 5_000_000  # different words whose counts are in memory
REMEMBERED = 200_000  # words; about 50 MB


def learn(texts: TrainingTexts, folder: Path, size: int, workers: int) -> None:
    """Learn `size` merges from the words of both sides."""
    counts: Counter[str] = Counter()
    floor = 0
    for _, counts_of_block in ordered(count, texts.blocks(), workers):
        counts.update(counts_of_block)
        while len(counts) > TYPES:
            floor += 1
            counts = Counter({word: number for word, number in counts.items() if number > floor})
    if all(len(word) < 2 for word in counts):
        raise UserError(
            f"{texts.source} and {texts.target} hold no word of two letters, from which BPE could be learnt"
        )
    stderr = contextlib.nullcontext() if shown(texts.quiet) else contextlib.redirect_stderr(io.StringIO())
    with (folder / CODES).open("w", encoding="utf-8", newline="\n") as codes, stderr:  # subword-nmt's progress bar
        learn_bpe((f"{word} {number}" for word, number in counts.items()), codes, size, is_dict=True)


def count(block: Block) -> Counter[str]:
    return Counter(itertools.chain(block.source.decode().split(), block.target.decode().split()))


class MosesBpe:
    """An encoder with BPE that remembers the subwords of each word."""

    def __init__(self, folder: Path) -> None:
        check_prepared(folder / CODES)
        with (folder / CODES).open(encoding="utf-8", newline="\n") as codes:
            self.bpe = BPE(codes)
        self.memory = {"": ""}

    def __call__(self, lines: list[str]) -> list[str]:
        return [" ".join(map(self.word, line.split(" "))) for line in lines]

    def word(self, word: str) -> str:
        try:
            return self.memory[word]
        except KeyError:
            if len(self.memory) > REMEMBERED:
                self.memory = {"": ""}
                self.bpe.cache.clear()
            self.memory[word] = str(self.bpe.segment(word))
            return self.memory[word]


def join_bpe(lines: Iterable[str]) -> Lines:
    """Return the lines without the marks @@ that BPE (subword-nmt) puts between the subwords of a word."""
    return [JOINT.sub("", line) for line in lines]


def detokenise(lines: Lines, _: Path | None, language: str) -> Surface:
    detokenise = MosesDetokenizer(language).detokenize
    tokenised = join_bpe(lines)
    return Surface(tokenised, [detokenise(line.split(), unescape=True) for line in tokenised])
