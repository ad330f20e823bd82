"""Gettext's catalogues: the messages of a .mo file in both languages, without marks of menus and markup."""

import html
import re
import struct
from collections.abc import Iterator

from debian_text.alignment import is_pair

TAG = re.compile(r"<[^<>]{1,200}>")
KEY_BEFORE_WORD = re.compile(r"(?<![&\w])[&_~](?=\w)")  # "_Open": the letter to press
KEY_IN_WORD = re.compile(r"(?<=\w)[_~](?=\w)")
PARAGRAPH_END = re.compile(r"\n\s*\n")


def messages(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield each message and its translation; of a plural the first and the last form."""
    number, *tables = struct.unpack_from("<3I", content, 8)
    sides = []
    for start in tables:
        indices = struct.iter_unpack("<2I", content[start : start + 8 * number])
        sides.append([content[offset : offset + length].decode() for length, offset in indices])
    for source, target in zip(*sides, strict=True):
        english, german = source.rpartition("\x04")[2].split("\0"), target.split("\0")  # \4 ends a context
        yield english[0], german[0]
        if len(english) > 1 and len(german) > 1:
            yield english[1], german[-1]


def clean(text: str) -> str:
    text = KEY_BEFORE_WORD.sub("", html.unescape(TAG.sub(" ", text)))
    if text.count("_") == 1 and " " in text:
        text = KEY_IN_WORD.sub("", text)
    return " ".join(text.replace("\\n", " ").replace("|", " ").split())


def catalogue_pairs(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a .mo file, a paragraph each where both sides have as many."""
    for message in messages(content):
        paragraphs = [[part for part in PARAGRAPH_END.split(text) if part.strip()] for text in message]
        if len(paragraphs[0]) != len(paragraphs[1]):
            paragraphs = [[text] for text in message]
        pairs = ((clean(english), clean(german)) for english, german in zip(*paragraphs, strict=True))
        yield from (pair for pair in pairs if is_pair(*pair))
