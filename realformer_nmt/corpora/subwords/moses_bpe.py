"""moses_bpe: the papers' protocol, on tokenised text, in subword-nmt's format (Sennrich et al., arXiv 1508.07909)."""

import contextlib
import functools
import io
import itertools
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from sacremoses import MosesDetokenizer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.progress import shown
from realformer_nmt.corpora.read_segments import Block
from realformer_nmt.corpora.subwords.subword_methods import CODES
from realformer_nmt.corpora.subwords.subwords import Encoder, Lines, Surface, TrainingTexts, WordMemory
from realformer_nmt.data_bins.file_checks import check_prepared

JOINT = re.compile(r"@@( |$)")  # what subword-nmt puts between the subwords of a word
TYPES = 5_000_000  # different words whose counts are in memory


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


def encoder(folder: Path) -> Encoder:
    """Return an encoder of words, the same with and without the extra huggingface; with it, it is quicker."""
    check_prepared(folder / CODES)
    with (folder / CODES).open(encoding="utf-8", newline="\n") as codes:
        bpe = BPE(codes)
    if find_spec("tokenizers") is None:
        return WordMemory(functools.partial(segments, bpe))
    from realformer_nmt.corpora.subwords.quick_bpe import QuickBpe  # which imports tokenizers

    return WordMemory(QuickBpe(bpe))


def segments(bpe: BPE, words: list[str]) -> Lines:
    bpe.cache.clear()  # it would keep every word
    return [bpe.segment(word) for word in words]


def detokenise(lines: Lines, _: Path | None, language: str) -> Surface:
    detokenise = MosesDetokenizer(language).detokenize
    tokenised = [JOINT.sub("", line) for line in lines]
    return Surface(tokenised, [detokenise(line.split(), unescape=True) for line in tokenised])
