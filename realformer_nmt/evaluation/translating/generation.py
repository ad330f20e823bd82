"""fairseq-generate in separate processes, and its hypotheses in the order of the source."""

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
from realformer_nmt.checkpoints.validation import between, sums
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.paragraphs import Paragraphs
from realformer_nmt.evaluation.translating import validation_scores
from realformer_nmt.evaluation.translating.parallel_jobs import fill
from realformer_nmt.fairseq_patches.messages import error_line

SCORES = "validation.json"
LINE = re.compile(r"([STH])-(\d+)\t(.*)")


class Generated(NamedTuple):
    """Sentences of a subset, or of a text's paragraphs."""

    sources: list[str]
    targets: list[str] | None  # with <<unk>> for words that the dictionary lacks, so that they match nothing
    hypotheses: list[str]
    validation: dict[str, float] | None = None
    paragraphs: Paragraphs | None = None

    def lines(self, sentences: list[str]) -> list[str]:
        """Return the lines of texts in place of the sentences."""
        return self.paragraphs.joined(sentences) if self.paragraphs else sentences


def generate(
    data: Path,
    subset: str,
    number: int,
    arguments: Sequence[str],
    folder: Path,
    validating: Sequence[str] = (),
    jobs: int = 1,
) -> Generated:
    """Translate all `number` sentences of a subset; any other number of hypotheses is an error.

    Each of N jobs takes every N-th batch, so that batches are those of a single job, and fills its folder in `folder`.
    `validating` are arguments of fairseq-validate, which then runs in the first job's process, since starting another
    takes seconds.
    """
    argv = [str(data), "--gen-subset", subset, *arguments]
    argv += ["--required-batch-size-multiple", "1", "--num-workers", "0", "--distributed-world-size", str(jobs)]
    on_gpu = "--cpu" not in arguments and torch.cuda.is_available()
    file = f"generate-{subset}.txt"
    folders = fill(partial(fairseq_generate, argv, validating), jobs, folder, number, file, on_gpu)
    generated = parse([share / file for share in folders], number)
    return generated._replace(validation=json.loads((folders[0] / SCORES).read_text()) if validating else None)


def fairseq_generate(argv: Sequence[str], validating: Sequence[str], job: int, folder: Path) -> None:
    """Run fairseq-generate in this process, which is a job's."""
    plugin.register()
    error_line.shorten("fairseq-generate")
    if validating and not job:
        scores = between(sums(validation_scores.validate(validating).state_dict()), {})
        (folder / SCORES).write_text(json.dumps(scores), encoding="utf-8")
    sys.argv = ["fairseq-generate", *argv, "--distributed-rank", str(job), "--results-path", str(folder)]
    with contextlib.suppress(ZeroDivisionError):  # fairseq's speed of a job without a batch; parse counts
        generate_command.cli_main()


def parse(paths: Iterable[Path], number: int) -> Generated:
    texts: dict[str, dict[int, str]] = {"S": {}, "T": {}, "H": {}}
    for path in paths:
        with path.open(encoding="utf-8", newline="\n") as lines:
            for match in filter(None, (LINE.fullmatch(line.removesuffix("\n")) for line in lines)):
                kind, index, text = match.groups()
                texts[kind][int(index)] = text.partition("\t")[2] if kind == "H" else text
    missing = sorted(set(range(number)) - set(texts["H"]))
    if missing or len(texts["H"]) != number:
        raise UserError(
            f"fairseq-generate gave {len(texts['H'])} hypotheses for {number} sources"
            + (f"; the first without one is number {missing[0] + 1}" if missing else "")
        )
    sources, targets, hypotheses = ([lines[index] for index in sorted(lines)] for lines in texts.values())
    return Generated(sources, targets or None, hypotheses)
