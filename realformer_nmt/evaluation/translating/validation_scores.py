"""Loss and BLEU of a model on validation data, computed by fairseq-validate as fairseq-train does after an epoch.

BLEU is that of greedy translations against the detokenised reference of the data-bin, where the model was trained with
--eval-bleu; so both can be compared with the scores that its checkpoints record.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.evaluation.translating.translation_record import Measures
from realformer_nmt.tasks import TRANSLATION

SUBSET = "valid"
BatchSize = Mapping[str, int | None]  # max_tokens and batch_size, in target tokens and in sentences


def validate_argv(path: Path, data: Path, subset: str, batch: BatchSize, cpu: bool) -> list[str]:
    """Return fairseq-validate's arguments; in fp32 whatever the decoding's precision."""
    argv = [str(data), "--path", str(path), "--valid-subset", subset]
    argv += [*batch_argv(batch, path), "--required-batch-size-multiple", "1"]
    argv += ["--distributed-world-size", "1", "--num-workers", "0"]
    return argv + (["--cpu"] if cpu else [])


def batch_argv(batch: BatchSize, path: Path) -> list[str]:
    """Return the options of the batch size: as given, or else those of the training's validation."""
    state = checkpoint_fields.without_weights(path)
    trained = {name: checkpoint_fields.setting(state, "dataset", f"{name}_valid") for name in batch}
    size = next((size for size in (batch, trained) if any(size.values())), {"max_tokens": 4096})
    limits = {f"--{name.replace('_', '-')}": str(limit) for name, limit in size.items() if limit}
    return [word for option in limits.items() for word in option]


def validate(argv: Sequence[str], **overrides: object) -> Any:
    """Run fairseq-validate and return its meters; it only prints their means, rounded."""
    from fairseq_cli import validate as command  # which has all log messages printed

    args = options.parse_args_and_arch(options.get_validation_parser(TRANSLATION), input_args=list(argv))
    with metrics.aggregate() as meters:
        command.main(convert_namespace_to_omegaconf(args), argparse.Namespace(data=args.data, **overrides))
    return meters


def describe(validation: Measures) -> str:
    """Return a line of text with the scores of a record."""
    bleu = f", greedy BLEU {validation['bleu']:.2f}" if "bleu" in validation else ""
    return f"loss {validation['loss']:.3f}{bleu} on {validation['subset']}"
