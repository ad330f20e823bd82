"""Repair of standard streams that are closed or full, have lost their reader, or cannot encode all text."""

import contextlib
import io
import os
import sys


def make_usable() -> None:
    """Open closed streams on /dev/null, and escape on output what the terminal's encoding cannot show.

    Without that the next file that is opened would get a closed stream's number, and be written to by `print`.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_unwritable_output() -> None:
    """Drop output that cannot be written: Python would try again when it exits, and print another error."""
    for number, stream in enumerate((sys.stdout, sys.stderr), start=1):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def say(line: str) -> None:
    """Print the last line of a command on stderr, if that is open."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(line.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)
    drop_unwritable_output()
