"""What a model of any task loses on a subset: the means that fairseq-validate prints, before it rounds them."""

import argparse
from pathlib import Path
from typing import Any

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics
from tabulate import tabulate

from realformer_nmt.checkpoints import layout
from realformer_nmt.common import safe_names
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.evaluation import heldout, model_record
from realformer_nmt.fairseq_patches.quiet import quiet

DATA = (".idx", ".bin", ".txt", ".label")  # no record of a measurement that lies beside them
PERPLEXITY = "ppl"  # as fairseq calls it
OF_BATCHES = ("wpb", "bsz")  # words and sentences a batch


def run(args: argparse.Namespace) -> int:
    stage = asked(args)
    if stage.finished(args.anew):
        return 0
    made = stage.begin()
    found = measure(heldout.words(args.checkpoint, args.data, args.subset, args))
    model = model_record.describe(args.checkpoint, made["inputs"]["checkpoint"]["sha256"])
    task = layout.table(layout.without_weights(args.checkpoint)["cfg"]).get("task")
    stage.write(
        made, {"subset": args.subset, "task": layout.table(task).get("_name"), "measures": found, "model": model}
    )
    print(tabulate(found.items(), floatfmt=".4f", tablefmt="plain"))
    return 0


def asked(args: argparse.Namespace) -> Stage:
    for name in ("max_tokens", "batch_size"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise UserError(f"--{name.replace('_', '-')} {value}: allowed is 1 or more")
    read = files(args.data, args.subset) if safe_names.is_plain(args.subset) else {}
    if not any(name.endswith(".idx") for name in read):
        raise UserError(f"{args.data} holds no subset {args.subset}: give another --subset, or --data that has it")
    return Stage(args.output, {"subset": args.subset}, {"checkpoint": args.checkpoint, **read})


def files(data: Path, subset: str) -> dict[str, Path]:
    """Of the subset and the dictionaries, also of the folders that sentence_prediction has for inputs and labels."""
    found = sorted([*data.glob("*"), *data.glob("*/*")])  # rglob leaves out what lies behind a link
    kept = (path for path in found if path.suffix in DATA and path.name.partition(".")[0] in (subset, "dict"))
    return {str(path.relative_to(data)): path for path in kept if path.is_file()}


def measure(words: list[str]) -> dict[str, float]:
    from fairseq_cli import validate  # which has all log messages printed

    with quiet(), metrics.aggregate() as seen:
        args = options.parse_args_and_arch(options.get_validation_parser("translation"), input_args=words)
        validate.main(convert_namespace_to_omegaconf(args), argparse.Namespace(data=args.data))
    found = means(seen.state_dict())
    if PERPLEXITY in seen.get_smoothed_values():
        found["perplexity"] = 2 ** found.get("nll_loss", found["loss"])
    return found


def means(rows: list[Any]) -> dict[str, float]:
    """Of fairseq's meters as it stores them; one whose name begins with _ is a part of another."""
    left_out = ("_", *OF_BATCHES)
    kept = ((name, meter) for _, name, kind, meter in rows if kind == "AverageMeter" and not name.startswith(left_out))
    return {name: float(meter["sum"] / meter["count"]) for name, meter in kept if meter["count"]}
