"""`-` among a command's arguments: its input from standard input, its hypotheses to standard output."""

import argparse
import contextlib
import functools
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from realformer_nmt.common import standard_streams
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError

STREAM = Path("-")
INPUT = "input.txt"  # what came from standard input, in the folder of the output
Command = Callable[[argparse.Namespace], int]


def streaming(name: str) -> Callable[[Command], Command]:
    """`name` is the file of a command's output folder that is written to standard output, and nothing else is."""

    def decorate(run: Command) -> Command:
        @functools.wraps(run)
        def streamed(args: argparse.Namespace) -> int:
            if args.output != STREAM:
                return run(_with_input(args, args.output))
            if standard_streams.output_is_closed():
                raise UserError("--output -: standard output is closed; leave it open, or name a folder")
            with tempfile.TemporaryDirectory() as folder:
                output = Path(folder, "output")
                with contextlib.redirect_stdout(sys.stderr):
                    status = run(_with_input(args, output))
                with (output / name).open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)  # UTF-8, whatever the locale
            return status

        return streamed

    return decorate


def _with_input(args: argparse.Namespace, folder: Path) -> argparse.Namespace:
    files = {"output": folder}
    if args.input == STREAM:
        files["input"] = folder / INPUT
        with completed(folder / INPUT) as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return argparse.Namespace(**{**vars(args), **files})
