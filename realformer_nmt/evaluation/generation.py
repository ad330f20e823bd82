"""fairseq-generate in a process of its own, and what it answers: every sentence, in the order of the source."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from fairseq_cli import generate as generate_command

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation import heldout
from realformer_nmt.fairseq_patches import error_line

PACKAGE = Path(__file__).resolve().parents[1]
# The first entry of the path would be the current folder, whose files are none of our modules
PROGRAM = """
import sys
sys.path[0] = sys.argv.pop(1)
import fairseq
from realformer_nmt.evaluation import generation
generation.main()
"""
LINE = re.compile(r"([STH])-(\d+)\t(.*)")


class Generated(NamedTuple):
    sources: list[str]
    targets: list[str] | None  # with <<unk>> for what the dictionary lacks, so that it matches nothing
    hypotheses: list[str]
    validation: dict[str, float] | None = None


def generate(
    data: Path, subset: str, number: int, arguments: Sequence[str], validating: Sequence[str] = ()
) -> Generated:
    """All `number` sentences; anything else is an error. With arguments of fairseq-validate, its scores too: in the
    same process, since starting one takes seconds."""
    with tempfile.TemporaryDirectory() as folder:
        required = ("--required-batch-size-multiple", "1", "--results-path", folder)
        words = [str(data), "--gen-subset", subset, "--user-dir", str(PACKAGE), *arguments, *required]
        scores = Path(folder, "validation.json")
        words += ["--", str(scores), *validating] if validating else []
        _run([sys.executable, "-c", PROGRAM, str(PACKAGE.parent), *words])
        generated = parse(Path(folder, f"generate-{subset}.txt"), number)
        return generated._replace(validation=json.loads(scores.read_text()) if validating else None)


def parse(path: Path, number: int) -> Generated:
    found: dict[str, dict[int, str]] = {"S": {}, "T": {}, "H": {}}
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            match = LINE.fullmatch(line.removesuffix("\n"))
            if match:
                kind, place, text = match.groups()
                found[kind][int(place)] = text.partition("\t")[2] if kind == "H" else text
    missing = sorted(set(range(number)) - set(found["H"]))
    if missing or len(found["H"]) != number:
        raise UserError(
            f"fairseq-generate gave {len(found['H'])} hypotheses for {number} sources"
            + (f"; the first without one is number {missing[0] + 1}" if missing else "")
        )
    sources, targets, hypotheses = ([texts[place] for place in sorted(texts)] for texts in found.values())
    return Generated(sources, targets or None, hypotheses)


def _run(command: Sequence[str]) -> None:
    """Its progress is shown where someone watches; its last line is the error if it fails."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=subprocess.DEVNULL, stderr=-1) as process:  # pipes
        told = _pass_on(process.stderr)
    if process.returncode:
        lines = told.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise UserError(f"fairseq-generate ended with status {process.returncode}: {lines[-1]}")


def _pass_on(stream: IO[bytes] | None) -> bytes:
    told = b""
    while stream and (piece := os.read(stream.fileno(), 1 << 16)):
        told = (told + piece)[-(1 << 16) :]
        if sys.stderr.isatty():
            sys.stderr.write(piece.decode(errors="replace"))
            sys.stderr.flush()
    return told


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    error_line.shorten("fairseq-generate")
    if "--" in sys.argv:
        cut = sys.argv.index("--")
        sys.argv, (scores, *words) = sys.argv[:cut], sys.argv[cut + 1 :]
        heldout.main(scores, words)
    generate_command.cli_main()


def _end_with_parent() -> None:
    """Its end of the pipe closes even if it is killed, and then nobody waits for a translation."""
    os.read(0, 1)  # not through sys.stdin, whose lock a worker process would inherit
    os._exit(1)
