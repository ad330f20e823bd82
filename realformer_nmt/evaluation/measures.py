"""What a model of any task loses on a subset: the means that fairseq-validate prints, before it rounds them."""

import argparse
import math
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics
from tabulate import tabulate

from realformer_nmt.checkpoints import layout
from realformer_nmt.common import safe_names
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.common.text_lines import sha256, write_lines
from realformer_nmt.common.versions import commit
from realformer_nmt.evaluation import heldout, metric_table, model_record
from realformer_nmt.evaluation.resampling import interval
from realformer_nmt.evaluation.sequences import Sequences, watched
from realformer_nmt.fairseq_patches.option_ranges import check_number
from realformer_nmt.fairseq_patches.quiet import quiet

DATA = (".idx", ".bin", ".txt", ".label")  # no record of a measurement that lies beside them
PERPLEXITY = "ppl"  # as fairseq calls it
OF_BATCHES = ("wpb", "bsz")  # words and sentences a batch
ROWS = ".sequences.tsv"  # beside the record
SAMPLES, SEED = 1000, 12345  # of the bootstrap, as `score` has them


def run(args: argparse.Namespace) -> int:
    stage = asked(args)
    table = beside(args.output)
    if stage.finished(args.anew, table):
        return 0
    made = stage.begin()
    task = layout.setting(layout.without_weights(args.checkpoint), "task", "_name")
    found, seen = measure(args, args.subset, task)
    model = model_record.describe(args.checkpoint, made["inputs"]["checkpoint"]["sha256"])
    content = {"subset": args.subset, "task": task, "measures": found, "models": [model]}
    content |= {"parameters": model["parameters"], "corpus": args.data.resolve().name, "commit": commit()}
    if args.validate:
        content["validation"] = validation(args, task)
    if seen.rows:
        write_lines(table, seen.lines)
        content |= scored(seen, task, table)
    stage.write(made, content, [table] if seen.rows else [])
    print(tabulate(found.items(), floatfmt=".4f", tablefmt="plain"))
    return 0


def beside(record: Path) -> Path:
    """A record that is not called .json keeps its whole name: lm-0.1 and lm-0.2 have a table each."""
    return record.with_name(record.name.removesuffix(".json") + ROWS)


def validation(args: argparse.Namespace, task: str) -> dict[str, Any]:
    """The loss that settings are chosen by, as that of translations is called."""
    found, _ = measure(args, heldout.SUBSET, task)
    return {"subset": heldout.SUBSET, "nll_loss": found["loss"], **found}


@np.errstate(over="ignore", invalid="ignore")  # of 1,024 bits and more there is no perplexity
def scored(seen: Sequences, task: str, file: Path) -> dict[str, Any]:
    """As run.json says it of a translation; a model whose losses are no numbers has no score."""
    rows = np.array([seen.rows[name] for name in sorted(seen.rows)], dtype=np.float64)
    scores = {}
    for name, score in metric_table.summed(task).items():
        signature = f"task:{task}|targets:{int(rows[:, 2].sum())}|sha256:{seen.digest[:12]}"
        figure, spread = score(*rows.sum(axis=0)), interval(rows, score, SAMPLES, SEED)
        if not math.isfinite(figure):
            continue
        found = {"score": figure, "interval": spread if math.isfinite(spread) else None}
        scores[name] = {"metric": metric_table.METRICS[name].label, "signature": signature, **found}
    files = {"sequences": {"path": file.name, "sha256": sha256(file)}}
    return {"scores": scores, "lines": len(rows), "unit": "sequences", "targets": seen.digest, "files": files}


def asked(args: argparse.Namespace) -> Stage:
    for name in ("max_tokens", "batch_size", "mask_seed"):
        if (value := getattr(args, name)) is not None:
            check_number(name, value)
    read = files(args.data, args.subset) if safe_names.is_plain(args.subset) else {}
    if not any(name.endswith(".idx") for name in read):
        told = "give another --subset, or --data that has it; for questions there are `answer` and `score-squad`"
        raise UserError(f"{args.data} holds no subset {args.subset}: {told}")
    read |= files(args.data, heldout.SUBSET) if args.validate else {}
    chosen = {"validate": args.validate or None, "mask_seed": args.mask_seed}
    settings = {"subset": args.subset, **{name: value for name, value in chosen.items() if value is not None}}
    return Stage(args.output, settings, {"checkpoint": args.checkpoint, **read})


def files(data: Path, subset: str) -> dict[str, Path]:
    """Of the subset and the dictionaries, also of the folders that sentence_prediction has for inputs and labels."""
    found = sorted([*data.glob("*"), *data.glob("*/*")])  # rglob leaves out what lies behind a link
    kept = (path for path in found if path.suffix in DATA and path.name.partition(".")[0] in (subset, "dict"))
    return {str(path.relative_to(data)): path for path in kept if path.is_file()}


def measure(args: argparse.Namespace, subset: str, task: str | None) -> tuple[dict[str, float], Sequences]:
    """The sequences of a task with a metric of them."""
    from fairseq_cli import validate  # which has all log messages printed

    of, words = metric_table.summed(task), heldout.words(args.checkpoint, args.data, subset, args)
    own = {"data": str(args.data)} | ({} if args.mask_seed is None else {"seed": args.mask_seed})  # by which it masks
    with quiet(), metrics.aggregate() as seen, watched() if of else nullcontext(Sequences()) as sequences:
        given = options.parse_args_and_arch(options.get_validation_parser("translation"), input_args=words)
        validate.main(convert_namespace_to_omegaconf(given), argparse.Namespace(**own))
    if sequences.rows and not any(row.targets for row in sequences.rows.values()):
        raise UserError(f"{args.data} {subset}: no word of it is masked; give a longer text")
    found = means(seen.state_dict())
    bits = found.get("nll_loss", found.get("loss", math.inf))
    if PERPLEXITY in seen.get_smoothed_values() and bits < sys.float_info.max_exp:
        found["perplexity"] = 2**bits
    if sequences.rows:
        _, right, targets = map(sum, zip(*sequences.rows.values(), strict=True))
        found["accuracy"] = 100 * right / targets
    return found, sequences


def means(rows: list[Any]) -> dict[str, float]:
    """Of fairseq's meters as it stores them; one whose name begins with _ is a part of another."""
    left_out = ("_", *OF_BATCHES)
    kept = ((name, meter) for _, name, kind, meter in rows if kind == "AverageMeter" and not name.startswith(left_out))
    return {name: float(meter["sum"] / meter["count"]) for name, meter in kept if meter["count"]}
