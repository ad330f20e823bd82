"""Package descriptions in two languages, which apt has for all packages of the archive."""

import re
from collections.abc import Iterator

from debian_text.alignment import Pair, sentence_pairs

ENTRY = re.compile(r"Package: (\S+)\nDescription-md5: (\S+)\nDescription-\w+: (.*)", re.DOTALL)


def descriptions(text: str) -> dict[str, tuple[str, str]]:
    """Return the package and its description by the checksum of the English one, which both languages name."""
    entries = (entry for part in text.split("\n\n") if (entry := ENTRY.match(part)))
    return {entry[2]: (entry[1], entry[3]) for entry in entries}


def paragraphs(description: str) -> list[str]:
    """Return the first line, then each paragraph, and each item of a list."""
    first, *lines = description.split("\n")
    blocks = [[first], list[str]()]
    for line in (line[1:] for line in lines):
        ends = line.strip() in ("", ".")
        if ends or line.startswith((" ", "*", "-")):
            blocks.append([])
        if not ends:
            blocks[-1].append(line.strip())
    return [text for block in blocks if (text := " ".join(block))]


def description_pairs(english: str, german: str) -> Iterator[Pair]:
    """Yield the pairs of each description that has as many paragraphs in both languages."""
    sources = descriptions(english)
    for checksum, (package, description) in descriptions(german).items():
        both = paragraphs(sources[checksum][1]) if checksum in sources else [], paragraphs(description)
        if len(both[0]) == len(both[1]):
            for paragraph in zip(*both, strict=True):
                yield from (Pair(f"ddtp/{package}", *pair) for pair in sentence_pairs(*paragraph))
