"""`-` among a command's arguments: its input from standard input, its hypotheses to standard output."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from realformer_nmt.common import standard_streams
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.stages import outputs
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.evaluation.translating.translation_record import RECORD

STREAM = Path("-")
INPUT = "input.txt"  # copy of standard input, in the output's folder


def streamed(run: Callable[[TranslateRequest], int], request: TranslateRequest, name: str) -> int:
    """Run a request whose input and output may be streams.

    `name` is the file of the output folder that goes to standard output, and nothing else does.
    """
    if request.output != STREAM:
        return run(_with_files(request, request.output))
    if standard_streams.output_is_closed():
        raise UserError("--output -: standard output is closed; leave it open, or name a folder")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "output")
        with contextlib.redirect_stdout(sys.stderr):
            status = run(_with_files(request, output))
        with (output / name).open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)  # UTF-8, whatever the locale
    return status


def _with_files(request: TranslateRequest, folder: Path) -> TranslateRequest:
    if request.input != STREAM:
        return replace(request, output=folder)
    path = folder / INPUT
    with _claimed(path), completed(path) as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return replace(request, output=folder, input=path)


def _claimed(file: Path) -> contextlib.AbstractContextManager[None]:
    """Claim input.txt for this command, unless it is the recorded input of an earlier translation."""
    record = file.with_name(RECORD)
    if file.is_file() and not file.is_symlink():
        with contextlib.suppress(UserError):
            recorded = records.read(record, StageRecord, "").made_from.inputs.get("input")
            if recorded and recorded.sha256 == sha256(file):
                return contextlib.nullcontext()
    return outputs.claimed(record, "translate", file)
