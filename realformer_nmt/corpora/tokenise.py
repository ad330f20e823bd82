"""Moses' tokenisation, word by word with a memory.

What the tokeniser does to a word depends on its neighbours only where the word begins or ends the line, or ends with a
full stop, which stays if the next word is in lower case. So sacremoses tokenises each such case once, between
neighbours that stand for all others, and text costs a look-up a word. Moses splits the full stop that ends a line
after an abbreviation too (since its commit 9fc964d), sacremoses does not: that is mended here.
"""

import functools
from collections.abc import Iterable

PLAIN = "A"  # a neighbour that neither changes nor is changed
REMEMBERED = 200_000  # words; some 50 MB
Case = tuple[str, str, str]  # what comes before ("" at the start of the line), the word, what comes after


class Tokeniser:
    def __init__(self, language: str, aggressive_hyphens: bool) -> None:
        from sacremoses import MosesTokenizer  # here: the commands' --help does not wait for it

        self.moses = MosesTokenizer(language)
        self.aggressive = aggressive_hyphens
        self.lower, self.letters = frozenset(self.moses.IsLower), frozenset(self.moses.IsAlnum)
        self.memory: dict[str | Case, str] = {}

    def __call__(self, line: str) -> str:
        words = line.split()
        if not words:
            return ""
        text = " ".join(words)
        if "' '" in text or not text.isprintable():  # Moses' rules overlap there, or remove characters
            return self.whole(text)
        if len(self.memory) > REMEMBERED:
            self.memory.clear()
        return " ".join(map(self.word, self.cases(words)))

    def cases(self, words: list[str]) -> Iterable[str | Case]:
        """A word alone where its neighbours do not matter."""
        cases: list[str | Case] = list(words)
        for place, word in enumerate(words[:-1]):
            if word[-1] == ".":
                cases[place] = (PLAIN, word, self.stand_in(words[place + 1][0]))
        first, last = len(words) == 1, words[-1]
        if words[0][0] in ",'":
            cases[0] = ("", words[0], self.stand_in(words[1][0]) if len(words) > 1 else "")
        if last[-1] in ".,'" or first:
            cases[-1] = ("" if first else PLAIN, last, "")
        return cases

    def stand_in(self, letter: str) -> str:
        return "a" if letter in self.lower else "1" if letter in "0123456789" else PLAIN

    def word(self, case: str | Case) -> str:
        try:
            return self.memory[case]
        except KeyError:
            self.memory[case] = tokens = self.tokens(*(case if isinstance(case, tuple) else (PLAIN, case, PLAIN)))
            return tokens

    def tokens(self, before: str, word: str, after: str) -> str:
        if "MULTI" not in word:  # Moses writes dots as DOTMULTI in between
            stem, mark = word[:-1], word[-1]
            if self.letters.issuperset(word):
                return word
            if stem and self.letters.issuperset(stem) and (mark == "," or (mark == "." and not after)):
                return f"{stem} {mark}"
        text = self.whole(" ".join(filter(None, (before, word, after))))
        return text[len(before) : len(text) - len(after)].strip()

    def whole(self, line: str) -> str:
        tokens = self.moses.tokenize(line, aggressive_dash_splits=self.aggressive)
        if tokens and len(tokens[-1]) > 1 and tokens[-1][-1] == "." != tokens[-1][-2]:
            tokens[-1:] = [tokens[-1][:-1], "."]
        return " ".join(tokens)


@functools.cache
def tokeniser(language: str, aggressive_hyphens: bool) -> Tokeniser:
    """One a process, for what it remembers."""
    return Tokeniser(language, aggressive_hyphens)
