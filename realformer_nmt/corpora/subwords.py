"""Two methods to split text into subwords, learnt from both sides of the training text together.

sentencepiece: raw text in, raw text out. Text is not normalised, and characters that the model does not know become
bytes, so that decoding restores what was encoded, except U+2581, which stands for a space in the subwords.
moses_bpe: the papers' protocol, on tokenised text, in subword-nmt's format (Sennrich et al., arXiv 1508.07909).
"""

import contextlib
import functools
import io
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import sentencepiece
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.progress import shown, watched
from realformer_nmt.corpora.read_segments import Block, blocks
from realformer_nmt.data_bins.prepare_record import check_prepared

Encoder = Callable[[list[str]], list[str]]  # lines to lines of subwords, separated by spaces
MODEL, DICTIONARY, CODES = "sentencepiece.model", "dictionary.txt", "bpe.codes"
FAIRSEQ_SYMBOLS = ("<s>", "<pad>", "</s>", "<unk>")
SAMPLE = 2_500_000  # pairs that sentencepiece learns from
TYPES = 5_000_000  # different words whose counts are in memory
REMEMBERED = 200_000  # words; about 50 MB


class Texts(NamedTuple):
    source: Path
    target: Path
    pairs: int
    quiet: bool = False  # no progress bars

    def blocks(self) -> Iterator[Block]:
        return watched(blocks(self.source, self.target), "subwords: reading", self.source, self.target, self.quiet)


def learn_sentencepiece(texts: Texts, folder: Path, size: int, _: int) -> None:
    """Train sentencepiece; `size` includes the four symbols of fairseq's dictionary.

    The result depends on the text alone."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sample(texts, SAMPLE),
            model_writer=model,
            vocab_size=size - len(FAIRSEQ_SYMBOLS) + 1,  # of the four symbols, sentencepiece has <unk>
            model_type="bpe",
            character_coverage=0.9998,
            byte_fallback=True,
            normalization_rule_name="identity",
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            num_threads=16,  # fixed, since the model file records it
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2]
        raise UserError(f"sentencepiece cannot learn {size} pieces: {reason} (--vocabulary has 3 more)") from error
    (folder / MODEL).write_bytes(model.getvalue())
    learnt = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    subwords = (learnt.id_to_piece(number) for number in range(learnt.vocab_size()))
    lines = (f"{subword} 1\n" for subword in subwords if subword not in FAIRSEQ_SYMBOLS)
    (folder / DICTIONARY).write_text("".join(lines), encoding="utf-8", newline="\n")


def sample(texts: Texts, most: int) -> Iterator[str]:
    """Yield both lines of every n-th pair, with the smallest n that gives at most `most` pairs."""
    step = -(-texts.pairs // most)
    pairs_read = 0
    for block in texts.blocks():
        for source_line, target_line in zip(split(block.source), split(block.target), strict=True):
            if pairs_read % step == 0:
                yield source_line
                yield target_line
            pairs_read += 1
    if shown(texts.quiet):
        print("subwords: sentencepiece is learning; it does not tell how far it is", file=sys.stderr)


@functools.cache
def sentencepiece_model(folder: Path) -> sentencepiece.SentencePieceProcessor:
    check_prepared(folder / MODEL)
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=(folder / MODEL).read_bytes())
    except OSError as error:
        raise UserError(f"{folder / MODEL}: {error.strerror}; `realformer-nmt prepare` makes it") from error
    except RuntimeError as error:
        raise UserError(
            f"{folder / MODEL} is no model of sentencepiece's; `realformer-nmt prepare` makes it"
        ) from error


def load_sentencepiece(folder: Path) -> Encoder:
    model = sentencepiece_model(folder)
    return lambda lines: [" ".join(subwords) for subwords in model.encode(lines, out_type=str, num_threads=1)]


def learn_moses_bpe(texts: Texts, folder: Path, size: int, workers: int) -> None:
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
            self.memory[word] = subwords = self.bpe.segment(word)
            return subwords


class Method(NamedTuple):
    tokenised: bool  # whether the text is first tokenised by Moses' rules
    learn: Callable[[Texts, Path, int, int], None]
    load: Callable[[Path], Encoder]
    files: tuple[str, ...]


METHODS = {
    "sentencepiece": Method(False, learn_sentencepiece, load_sentencepiece, (MODEL, DICTIONARY)),
    "moses_bpe": Method(True, learn_moses_bpe, MosesBpe, (CODES,)),
}


@functools.cache
def encoder(method: str, folder: Path) -> Encoder:
    """Return the encoder of a subword model, one per process because of its memory."""
    for name in METHODS[method].files:
        if (folder / name).is_fifo():
            raise UserError(f"{folder / name} is a pipe, which can be read only once: write it to a file first")
    return METHODS[method].load(folder)


def split(lines: bytes) -> list[str]:
    return lines.decode().split("\n")[:-1]
