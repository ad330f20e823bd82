"""`-` among a command's arguments: its input from standard input, its hypotheses to standard output."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from realformer_nmt.common import standard_streams
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.stages import outputs
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.evaluation.translating.translation_record import RECORD, TranslationRecord

STREAM = Path("-")
COMMAND = TranslateRequest.subcommand
INPUT = "input.txt"  # copy of standard input, in the output's folder


def streamed(
    run: Callable[[TranslateRequest], int],
    is_up_to_date: Callable[[TranslateRequest], bool],
    request: TranslateRequest,
    name: str,
) -> int:
    """Run a request whose input and output may be streams.

    `is_up_to_date` checks a request without a change to a file. `name` is the file of the output folder that goes to
    standard output, and nothing else does.
    """
    if request.input == STREAM:
        run = partial(_run_with_stdin, run, is_up_to_date)
    if request.output != STREAM:
        return run(request)
    if standard_streams.output_is_closed():
        raise UserError("--output -: standard output is closed; leave it open, or name a folder")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "output")
        with contextlib.redirect_stdout(sys.stderr):
            status = run(replace(request, output=output))
        with (output / name).open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)  # UTF-8, whatever the locale
    return status


def _run_with_stdin(
    run: Callable[[TranslateRequest], int], is_up_to_date: Callable[[TranslateRequest], bool], request: TranslateRequest
) -> int:
    """Run a request for the text of standard input, which becomes input.txt once it is checked."""
    path, record = request.output / INPUT, request.output / RECORD
    outputs.check_folder(request.output)
    if not _is_recorded(path, record):
        outputs.check_product(path, record, COMMAND)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, INPUT)
        with text.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if is_up_to_date(replace(request, input=text)):
            return 0
        _write_input(path, text, record)
    return run(replace(request, input=path))


def _write_input(path: Path, text: Path, record: Path) -> None:
    """Make input.txt the copy of a text; the record of another text is removed first."""
    outputs.note(record, COMMAND, path)
    if path.is_file() and sha256(path) == sha256(text):
        return
    outputs.void(record, COMMAND)
    with completed(path) as file, text.open("rb") as stream:
        shutil.copyfileobj(stream, file)


def _is_recorded(path: Path, record: Path) -> bool:
    """Return whether input.txt is the recorded input of an earlier translation, by its name or its content."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        earlier = records.read(record, TranslationRecord, "")
    except UserError:
        return False
    recorded = earlier.made_from.inputs.get("input")
    return earlier.input == str(path.resolve()) or bool(recorded and recorded.sha256 == sha256(path))
