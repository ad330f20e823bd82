"""Moses' tokenisation, word by word, with a memory of the words seen before.

How the tokeniser splits a word depends on its neighbours only if the word begins or ends the line, or ends with a full
stop, which stays if the next word is in lower case. So sacremoses tokenises each such case once, between neighbours
that represent all others, and a text costs one look-up per word. Moses also splits off the full stop at the end of a
line after an abbreviation (since its commit 9fc964d), sacremoses does not: this is corrected here.
"""

import functools
from collections.abc import Iterable

PLAIN = "A"  # a neighbour that neither changes nor is changed
REMEMBERED = 200_000  # words; about 50 MB
Case = tuple[str, str, str]  # neighbour before ("" at the start of the line), word, neighbour after


class Tokeniser:
    def __init__(self, language: str, aggressive_hyphens: bool) -> None:
        from sacremoses import MosesTokenizer  # here: the commands' --help does not wait for it

        self.moses = MosesTokenizer(language)
        self.aggressive = aggressive_hyphens
        self.lower, self.letters = frozenset(self.moses.IsLower), frozenset(self.moses.IsAlnum)
        self.word = functools.lru_cache(REMEMBERED)(self.tokens)

    def __call__(self, line: str) -> str:
        words = line.split()
        if not words:
            return ""
        text = " ".join(words)
        if "' '" in text or not text.isprintable():  # Moses' rules overlap there, or remove characters
            return self.tokenise_line(text)
        return " ".join(map(self.word, self.cases(words)))

    def cases(self, words: list[str]) -> Iterable[str | Case]:
        """Return for each word the word alone, or with its neighbours if they matter."""
        cases: list[str | Case] = list(words)
        for index, word in enumerate(words[:-1]):
            if word[-1] == ".":
                cases[index] = (PLAIN, word, self.stand_in(words[index + 1][0]))
        single, last = len(words) == 1, words[-1]
        if words[0][0] in ",'":
            cases[0] = ("", words[0], "" if single else self.stand_in(words[1][0]))
        if last[-1] in ".,'" or single:
            cases[-1] = ("" if single else PLAIN, last, "")
        return cases

    def stand_in(self, letter: str) -> str:
        """Return the neighbour that represents all words that begin with such a letter."""
        if letter in self.lower:
            return "a"
        return "1" if letter in "0123456789" else PLAIN

    def tokens(self, case: str | Case) -> str:
        before, word, after = case if isinstance(case, tuple) else (PLAIN, case, PLAIN)
        if "MULTI" not in word:  # Moses writes dots as DOTMULTI in between
            stem, mark = word[:-1], word[-1]
            if self.letters.issuperset(word):
                return word
            if stem and self.letters.issuperset(stem) and (mark == "," or (mark == "." and not after)):
                return f"{stem} {mark}"
        text = self.tokenise_line(" ".join(filter(None, (before, word, after))))
        return text[len(before) : len(text) - len(after)].strip()

    def tokenise_line(self, line: str) -> str:
        tokens = self.moses.tokenize(line, aggressive_dash_splits=self.aggressive)
        if tokens and len(tokens[-1]) > 1 and tokens[-1][-1] == "." != tokens[-1][-2]:
            tokens[-1:] = [tokens[-1][:-1], "."]
        return " ".join(tokens)


tokeniser = functools.cache(Tokeniser)  # one per language and process because of its memory
