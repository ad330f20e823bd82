"""Loss and BLEU of a model on validation data, as fairseq-train computes them after an epoch: by fairseq-validate.

BLEU is that of greedy translations against the detokenised reference of the data-bin, where the model was trained with
--eval-bleu; so both stand in one line with the scores that its checkpoints know.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics

from realformer_nmt.checkpoints import layout, validation
from realformer_nmt.common.errors import UserError

SUBSET = "valid"
PACKAGE = Path(__file__).resolve().parents[1]


def arguments(args: argparse.Namespace, data: Path) -> list[str]:
    """Of fairseq-validate; in fp32 whatever the decoding's precision, in batches such as the training validated."""
    if len(args.checkpoints) > 1:
        raise UserError("--validate is for one model: give one checkpoint, or leave the option out")
    return words(args.checkpoints[0], data, SUBSET, args)


def words(path: Path, data: Path, subset: str, args: argparse.Namespace) -> list[str]:
    words = [str(data), "--path", str(path), "--valid-subset", subset, "--user-dir", str(PACKAGE), *batches(args, path)]
    words += ["--required-batch-size-multiple", "1", "--distributed-world-size", "1", "--num-workers", "0"]
    return words + (["--cpu"] if args.cpu else [])


def batches(args: argparse.Namespace, path: Path) -> list[str]:
    state = layout.without_weights(path)
    saved = {name: layout.setting(state, "dataset", f"{name}_valid") for name in ("max_tokens", "batch_size")}
    given = {name: getattr(args, name) for name in saved}
    chosen = next((sizes for sizes in (given, saved) if any(sizes.values())), {"max_tokens": 4096})
    return [word for name, size in chosen.items() if size for word in (f"--{name.replace('_', '-')}", str(size))]


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
