"""Cleaning of text before it is split into subwords, by the papers' protocol.

Punctuation is normalised on bytes, a block of lines at a time. The rules are those of Moses'
normalize-punctuation.perl, from sacremoses' table. The script works on bytes and sees the end of the line, so a full
stop before a quotation mark at the end of a German or French line moves behind it. Whitespace of every kind becomes
one space, since fairseq splits at all of it.
"""

import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import regex

from realformer_nmt.corpora.manifest_schema import Lengths
from realformer_nmt.corpora.tokenise import tokeniser

CURLED = "\N{RIGHT SINGLE QUOTATION MARK}".encode()
UNPRINTED = regex.compile(r"\p{C}")
LITERAL = re.compile(rb"(?:\\[^\w\s]|[^\\()\[\]+*?.])+")
LONGEST_WORD = 1000  # characters, as in Moses' clean-corpus-n.perl
Rule = Callable[[bytes], bytes]
Hyphens = Literal["aggressive", "plain"]  # hyphens are separate tokens, or parts of words


@functools.cache
def punctuation_rules(language: str) -> tuple[Rule, ...]:
    from sacremoses import MosesPunctNormalizer  # here: the commands' --help does not wait for it

    table = MosesPunctNormalizer(language, perl_parity=True).substitutions
    return tuple(rule(pattern.encode(), replacement.encode()) for pattern, replacement in table)


def rule(pattern: bytes, replacement: bytes) -> Rule:
    """Return the fastest function that applies a substitution to a block of lines without joining lines."""
    if pattern == b" +":
        return single_spaces
    if LITERAL.fullmatch(pattern):
        return operator.methodcaller("replace", re.sub(rb"\\(.)", rb"\1", pattern), replacement)
    return functools.partial(re.compile(pattern.replace(rb"\s", rb"[ \t\r\f\v]")).sub, replacement)


def single_spaces(block: bytes) -> bytes:
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    return block


def normalise_punctuation(block: bytes, language: str) -> bytes:
    return functools.reduce(lambda text, apply: apply(text), punctuation_rules(language), block)


@dataclass(frozen=True)
class Steps:
    """Steps of cleaning one text, in this order."""

    language: str
    normalise_punctuation: bool = False
    straight_apostrophes: bool = False  # the only change that the papers make to test sets
    remove_nonprinting: bool = False
    tokenise: Hyphens | None = None  # by Moses' rules
    lowercase: bool = False


def cleaned(block: bytes, steps: Steps) -> list[str]:
    """Return the cleaned lines of a block, as many as it has."""
    if steps.normalise_punctuation:
        block = normalise_punctuation(block, steps.language)
    if steps.straight_apostrophes:
        block = block.replace(CURLED, b"'")
    lines = [" ".join(line.split()) for line in block.decode().split("\n")[:-1]]
    if steps.remove_nonprinting:
        lines = [line if line.isprintable() else " ".join(UNPRINTED.sub(" ", line).split()) for line in lines]
    if steps.tokenise:
        lines = list(map(tokeniser(steps.language, steps.tokenise == "aggressive"), lines))
    return [line.lower() for line in lines] if steps.lowercase else lines


def fault(source: str, target: str, lengths: Lengths | None) -> str | None:
    """Return why a pair of lines is dropped, or None; checks and their order are those of Moses' clean-corpus-n.perl.

    The lines are cleaned: words are separated by single spaces."""
    if not source or not target:
        return "empty"
    if lengths is None:
        return None
    source_tokens, target_tokens = source.count(" ") + 1, target.count(" ") + 1
    shorter, longer = min(source_tokens, target_tokens), max(source_tokens, target_tokens)
    if longer > lengths.max:
        return "too_long"
    if shorter < lengths.min:
        return "too_short"
    if longer / shorter > lengths.ratio:
        return "ratio"
    if len(source) > LONGEST_WORD or len(target) > LONGEST_WORD:
        longest = max(map(len, [*source.split(" "), *target.split(" ")]))
        return "long_word" if longest > LONGEST_WORD else None
    return None


def without_fault(faults: Iterable[str | None]) -> tuple[list[int], Counter[str]]:
    """Return the indices of the pairs that have no fault, and how many have each fault."""
    listed = list(faults)
    return [index for index, each in enumerate(listed) if each is None], Counter(filter(None, listed))
