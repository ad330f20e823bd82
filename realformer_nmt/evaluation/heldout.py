"""Loss and BLEU of a model on validation data, as fairseq-train computes them after an epoch: by fairseq-validate.

BLEU is that of greedy translations against the detokenised reference of the data-bin, where the model was trained with
--eval-bleu; so both stand in one line with the scores that its checkpoints know.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics

from realformer_nmt.checkpoints import layout, validation

SUBSET = "valid"
PACKAGE = Path(__file__).resolve().parents[1]


class BatchSize(NamedTuple):
    """The most of a batch, in target tokens and in sentences."""

    max_tokens: int | None = None
    batch_size: int | None = None


def validate_argv(path: Path, data: Path, subset: str, batch: BatchSize, cpu: bool) -> list[str]:
    """Return fairseq-validate's arguments; in fp32 whatever the decoding's precision."""
    argv = [str(data), "--path", str(path), "--valid-subset", subset, "--user-dir", str(PACKAGE)]
    argv += [*batch_argv(batch, path), "--required-batch-size-multiple", "1"]
    argv += ["--distributed-world-size", "1", "--num-workers", "0"]
    return argv + (["--cpu"] if cpu else [])


def batch_argv(batch: BatchSize, path: Path) -> list[str]:
    """Return the size of a batch: as given, or else as the training validated."""
    state = layout.without_weights(path)
    trained = BatchSize(*(layout.setting(state, "dataset", f"{name}_valid") for name in BatchSize._fields))
    size = next((size for size in (batch, trained) if any(size)), BatchSize(max_tokens=4096))
    argv = []
    for name, most in size._asdict().items():
        if most:
            argv += [f"--{name.replace('_', '-')}", str(most)]
    return argv


def main(file: Path, words: Sequence[str]) -> None:
    """Writes the scores; fairseq-validate only prints them, rounded."""
    from fairseq_cli import validate  # which has all log messages printed

    args = options.parse_args_and_arch(options.get_validation_parser("translation"), input_args=list(words))
    with metrics.aggregate() as found:
        validate.main(convert_namespace_to_omegaconf(args), argparse.Namespace(data=args.data))
    file.write_text(json.dumps(scores(found.state_dict())), encoding="utf-8")


def scores(rows: list[Any]) -> dict[str, float]:
    return validation.between(validation.sums(rows), {})


def describe(found: dict[str, Any]) -> str:
    """In words, for people."""
    bleu = f", greedy BLEU {found['bleu']:.2f}" if "bleu" in found else ""
    return f"loss {found['loss']:.3f}{bleu} on {found['subset']}"
