"""fairseq-generate in processes of its own, and what it answers: every sentence, in the order of the source."""

import contextlib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from fairseq_cli import generate as generate_command

from realformer_nmt import plugin
from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation import heldout
from realformer_nmt.evaluation.jobs import fill
from realformer_nmt.fairseq_patches import error_line

PACKAGE = Path(__file__).resolve().parents[1]
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
    words = [str(data), "--gen-subset", subset, "--user-dir", str(PACKAGE), *arguments]
    words += ["--required-batch-size-multiple", "1", "--num-workers", "0", "--distributed-world-size", str(jobs)]
    on_gpu = "--cpu" not in arguments and torch.cuda.is_available()
    file = f"generate-{subset}.txt"
    folders = fill(partial(fairseq_generate, words, validating), jobs, folder, number, file, on_gpu)
    generated = parse([share / file for share in folders], number)
    return generated._replace(validation=json.loads((folders[0] / SCORES).read_text()) if validating else None)


def fairseq_generate(words: Sequence[str], validating: Sequence[str], job: int, filled: Path) -> None:
    """In a process of its own."""
    plugin.register()
    error_line.shorten("fairseq-generate")
    if validating and not job:
        heldout.main(filled / SCORES, validating)
    sys.argv = ["fairseq-generate", *words, "--distributed-rank", str(job), "--results-path", str(filled)]
    with contextlib.suppress(ZeroDivisionError):  # fairseq's speed of a job that no batch was left for; parse counts
        generate_command.cli_main()


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
