"""fairseq-generate in processes of its own, and what it answers: every sentence, in the order of the source."""

import contextlib
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from fairseq_cli import generate as generate_command

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation import heldout
from realformer_nmt.evaluation.jobs import fill
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
SCORES = "validation.json"
LINE = re.compile(r"([STH])-(\d+)\t(.*)")


class Generated(NamedTuple):
    sources: list[str]
    targets: list[str] | None  # with <<unk>> for what the dictionary lacks, so that it matches nothing
    hypotheses: list[str]
    validation: dict[str, float] | None = None


def generate(
    data: Path,
    subset: str,
    number: int,
    arguments: Sequence[str],
    folder: Path,
    validating: Sequence[str] = (),
    jobs: int = 1,
) -> Generated:
    """All `number` sentences; anything else is an error. With arguments of fairseq-validate, its scores too: in the
    first job's process, since starting one takes seconds. Each of N jobs takes every N-th batch, so that batches are
    those of one job, and what became of them is in its folder within `folder`."""
    file = f"generate-{subset}.txt"

    def command(job: int, filled: Path) -> list[str]:
        words = [str(data), "--gen-subset", subset, "--user-dir", str(PACKAGE), *arguments]
        words += ["--required-batch-size-multiple", "1", "--results-path", str(filled), "--num-workers", "0"]
        words += ["--distributed-world-size", str(jobs), "--distributed-rank", str(job)]
        words += ["--", str(filled / SCORES), *validating] if validating and not job else []
        return [sys.executable, "-c", PROGRAM, str(PACKAGE.parent), *words]

    folders = fill(command, jobs, folder, number, file)
    generated = parse([share / file for share in folders], number)
    return generated._replace(validation=json.loads((folders[0] / SCORES).read_text()) if validating else None)


def parse(paths: Iterable[Path], number: int) -> Generated:
    found: dict[str, dict[int, str]] = {"S": {}, "T": {}, "H": {}}
    for path in paths:
        with path.open(encoding="utf-8", newline="\n") as lines:
            for match in filter(None, (LINE.fullmatch(line.removesuffix("\n")) for line in lines)):
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


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    error_line.shorten("fairseq-generate")
    if "--" in sys.argv:
        cut = sys.argv.index("--")
        sys.argv, (scores, *words) = sys.argv[:cut], sys.argv[cut + 1 :]
        heldout.main(scores, words)
    with contextlib.suppress(ZeroDivisionError):  # fairseq's speed of a job that no batch was left for; parse counts
        generate_command.cli_main()


def _end_with_parent() -> None:
    """Its end of the pipe closes even if it is killed, and then nobody waits for a translation."""
    os.read(0, 1)  # not through sys.stdin, whose lock a worker process would inherit
    os._exit(1)
