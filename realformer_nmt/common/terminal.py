"""Text of servers, archives and records on its way to a terminal: it is read, and steers nothing."""

import sys
from typing import TextIO, cast


def printable(text: str) -> str:
    """What is no visible letter stands there as its number: escape sequences, line ends, marks that turn the direction
    of what follows."""
    return "".join(letter if letter.isprintable() else _number(letter) for letter in text)


def printable_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def _number(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


class Terminal:
    """Standard output where it is a terminal; `ls` does the same with the names of files. A file or a pipe gets every
    character as it is."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write("\t".join(map(printable_lines, text.split("\t"))))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def guard_output() -> None:
    if sys.stdout is not None and not isinstance(sys.stdout, Terminal) and sys.stdout.isatty():
        sys.stdout = cast(TextIO, Terminal(sys.stdout))
