"""Escaping of text from servers, archives and records, so that it cannot control the terminal."""

import sys
from typing import TextIO, cast


def printable(text: str) -> str:
    """Escape all unprintable characters: escape sequences, line ends, marks that change the text's direction."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def printable_lines(text: str) -> str:
    """Escape all unprintable characters but line feeds."""
    return "\n".join(map(printable, text.split("\n")))


class Terminal:
    """A stream to a terminal that escapes what is unprintable, as `ls` does with the names of files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write("\t".join(map(printable_lines, text.split("\t"))))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def guard_output() -> None:
    """Escape what is unprintable on stdout if it is a terminal; files and pipes get every character as it is."""
    if sys.stdout is not None and not isinstance(sys.stdout, Terminal) and sys.stdout.isatty():
        sys.stdout = cast(TextIO, Terminal(sys.stdout))
