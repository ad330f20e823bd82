"""BPE by the library tokenizers, for the words of which it must make what subword-nmt makes."""

from collections.abc import Sequence
from operator import itemgetter

from subword_nmt.apply_bpe import BPE
from tokenizers import models

from realformer_nmt.corpora.subwords.subwords import Lines

END = "</w>"  # of a word, in its last symbol
VERSION = (0, 2)  # of the codes: before it END was a symbol of its own


class QuickBpe:
    """An encoder of words by subword-nmt's codes.

    subword-nmt merges all places of the best pair at once, tokenizers one place at a time. If each code stands behind
    the codes that make its parts, a merge makes no better pair than itself, and both do the same. Codes in another
    order, and letters that no code has, are left to subword-nmt."""

    def __init__(self, bpe: BPE) -> None:
        self.bpe = bpe
        merges = [pair for pair, _ in sorted(bpe.bpe_codes.items(), key=itemgetter(1))]
        parts = dict.fromkeys(symbol for pair in merges for symbol in pair)
        letters = dict.fromkeys("".join(symbol.removesuffix(END) for symbol in parts))
        ends = [letter + END for letter in letters]
        symbols = dict.fromkeys([*letters, *ends, *parts, *map("".join, merges)])
        vocabulary = {symbol: number for number, symbol in enumerate(symbols)}
        self.model = models.BPE(vocabulary, merges, cache_capacity=0, end_of_word_suffix=END)
        self.letters = frozenset(letters) if bpe.version == VERSION and is_ordered(merges) else frozenset()

    def __call__(self, words: list[str]) -> Lines:
        self.bpe.cache.clear()  # it would keep every word
        return [self.merged(word) if self.is_sure(word) else self.bpe.segment(word) for word in words]

    def is_sure(self, word: str) -> bool:
        return word != "" and self.letters.issuperset(word)

    def merged(self, word: str) -> str:
        symbols = [token.value for token in self.model.tokenize(word)]
        return "@@ ".join(symbols).removesuffix(END)


def is_ordered(merges: Sequence[tuple[str, str]]) -> bool:
    """Tell whether each code stands behind all codes that make its parts."""
    last = {"".join(pair): rank for rank, pair in enumerate(merges)}
    return all(last.get(part, -1) < rank for rank, pair in enumerate(merges) for part in pair)
