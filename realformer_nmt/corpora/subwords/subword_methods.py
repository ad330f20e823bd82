"""The methods that split text into subwords, a row each: all that the commands need to know of one.

The functions are named as "module:attribute" and imported when they are called (subwords.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

MODEL, DICTIONARY, CODES = "sentencepiece.model", "dictionary.txt", "bpe.codes"
SOURCE_MODEL, TARGET_MODEL, TAGS = "source.spm", "target.spm", "tags.txt"  # of a model that was imported


class BleuFlags(NamedTuple):
    """How fairseq-train turns subwords into text to measure BLEU during validation."""

    remove_bpe: str
    detokeniser: str
    needs_languages: bool = False  # of the detokeniser


@dataclass(frozen=True, kw_only=True)
class SubwordMethod:
    """The functions of a method, as module:attribute, and what the commands do differently for it."""

    encoder: str  # (folder of the model) -> Encoder
    detokenise: str  # (lines of subwords, folder of the model or None, target language) -> Surface
    learn: str = ""  # (Texts, folder of the model, vocabulary size, workers); without it `prepare` has no such choice
    files: tuple[str, ...] = ()  # that `learn` writes; DICTIONARY among them is what the data-bin's are made from
    tokenised: bool = False  # whether the text is first tokenised by Moses' rules
    counts: str = "subwords"  # by the size of the vocabulary
    vocabulary: int | None = None  # its size; None: the number of the corpus' protocol
    bleu: BleuFlags | None = None  # None: fairseq-train does not measure BLEU
    retokenised: bool = False  # whether `score` tokenises raw translations too
    marian_models: tuple[str, ...] = ()  # files for source and target that transformers' MarianTokenizer reads
    target_encoder: str = ""  # if the target is split by another function
    tag: str = ""  # the token before a sentence that names its language, by the language's name

    @property
    def of_target(self) -> "SubwordMethod":
        """The method as it splits the target."""
        return replace(self, encoder=self.target_encoder or self.encoder)

    @property
    def size_help(self) -> str:
        return self.counts + (f" (default: {self.vocabulary})" if self.vocabulary else "")


METHODS = {
    "sentencepiece": SubwordMethod(
        learn="realformer_nmt.corpora.subwords.sentencepiece_subwords:learn",
        encoder="realformer_nmt.corpora.subwords.sentencepiece_subwords:encoder",
        detokenise="realformer_nmt.corpora.subwords.sentencepiece_subwords:detokenise",
        files=(MODEL, DICTIONARY),
        vocabulary=32_000,
        bleu=BleuFlags("sentencepiece", "space"),
        retokenised=True,
        marian_models=(MODEL, MODEL),
    ),
    "moses_bpe": SubwordMethod(
        learn="realformer_nmt.corpora.subwords.moses_bpe:learn",
        encoder="realformer_nmt.corpora.subwords.moses_bpe:encoder",
        detokenise="realformer_nmt.corpora.subwords.moses_bpe:detokenise",
        files=(CODES,),
        tokenised=True,
        counts="merges",
        bleu=BleuFlags("@@ ", "moses", needs_languages=True),
    ),
    "sentencepiece_pair": SubwordMethod(
        encoder="realformer_nmt.corpora.subwords.sentencepiece_pair:encoder",
        target_encoder="realformer_nmt.corpora.subwords.sentencepiece_pair:target_encoder",
        detokenise="realformer_nmt.corpora.subwords.sentencepiece_pair:detokenise",
        files=(SOURCE_MODEL, TARGET_MODEL, TAGS),
        retokenised=True,
        marian_models=(SOURCE_MODEL, TARGET_MODEL),
    ),
    "sentencepiece_tags": SubwordMethod(  # of M2M-100 and NLLB-200
        encoder="realformer_nmt.corpora.subwords.sentencepiece_subwords:encoder",
        detokenise="realformer_nmt.corpora.subwords.sentencepiece_subwords:detokenise",
        files=(MODEL,),
        retokenised=True,
        marian_models=(MODEL, MODEL),
        tag="__{}__",
    ),
    "none": SubwordMethod(
        encoder="realformer_nmt.corpora.subwords.subwords:whole_words",
        detokenise="realformer_nmt.corpora.subwords.subwords:from_words",
    ),
}
DEFAULT = next(iter(METHODS))  # of `prepare`
OF_PAPERS = "moses_bpe"  # of the corpora whose figures the papers report


class LearntMethods:
    """The names of the methods that `prepare` offers, also of rows that a --user-dir adds later."""

    def __iter__(self) -> Iterator[str]:
        return (name for name, method in METHODS.items() if method.learn)


LEARNT = LearntMethods()
