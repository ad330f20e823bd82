"""`-` among a command's arguments: its input from standard input, its hypotheses to standard output."""

import argparse
import contextlib
import functools
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from realformer_nmt.common import outputs, sealed, standard_streams
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import UNLIKE
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.evaluation.translation_files import RECORD

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
        files["input"] = path = folder / INPUT
        with _claimed(path), completed(path) as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return argparse.Namespace(**{**vars(args), **files})


def _claimed(file: Path) -> contextlib.AbstractContextManager[None]:
    """What an earlier input.txt was is known as an input of the translation."""
    record = file.with_name(RECORD)
    if file.is_file() and not file.is_symlink():
        with contextlib.suppress(UserError, *UNLIKE):
            if sealed.read(record, "")[MADE_FROM]["inputs"]["input"]["sha256"] == sha256(file):
                return contextlib.nullcontext()
    return outputs.claimed(record, "translate", file)
