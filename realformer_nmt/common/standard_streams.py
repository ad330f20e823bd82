"""The three standard streams as they may be: closed, full, left by their reader, or of an encoding that lacks much."""

import contextlib
import io
import os
import sys


def make_usable() -> None:
    """What is closed is replaced by nothing, since the next file opened would get its number; what the encoding of the
    terminal cannot show stands there escaped, names that are no text among it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def output_is_closed() -> bool:
    """Or was, before make_usable: its own streams have the number for a name."""
    return sys.stdout is None or isinstance(getattr(sys.stdout, "name", None), int)


def drop_what_nobody_takes() -> None:
    """Python would try once more at its end, and complain once more."""
    for number, stream in enumerate((sys.stdout, sys.stderr), start=1):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def say(line: str) -> None:
    """As the last word of a command, on stderr, if there is one."""
    drop_what_nobody_takes()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(line.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)
