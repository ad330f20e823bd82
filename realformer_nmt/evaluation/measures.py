"""What a model of any task loses on a subset: the means that fairseq-validate prints, before it rounds them."""

import math
import sys
from pathlib import Path
from types import SimpleNamespace
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
from realformer_nmt.evaluation.answered import Answered
from realformer_nmt.evaluation.evaluate import EvaluateRequest
from realformer_nmt.evaluation.resampling import interval
from realformer_nmt.evaluation.rows import Rows, watched
from realformer_nmt.evaluation.sentence_rows import Sentences
from realformer_nmt.evaluation.sequences import Sequences
from realformer_nmt.fairseq_patches.option_ranges import check_number
from realformer_nmt.fairseq_patches.quiet import quiet
from realformer_nmt.questions.windows import MODEL

DATA = (".idx", ".bin", ".txt", ".label")  # no record of a measurement that lies beside them
PERPLEXITY = "ppl"  # as fairseq calls it
OF_BATCHES = ("wpb", "bsz")  # words and sentences a batch
ROWS = ".sequences.tsv"  # beside the record
SAMPLES, SEED = 1000, 12345  # of the bootstrap, as `score` has them
KINDS: dict[str, type[Rows]] = {  # of rows, by task
    **dict.fromkeys(("language_modeling", "masked_lm", "span_masked_lm"), Sequences),
    "sentence_prediction": Sentences,
    "question_answering": Answered,
}


def run(request: EvaluateRequest) -> int:
    stage = stage_of(request)
    table = beside(request.output)
    if stage.finished(request.anew, table):
        return 0
    made = stage.begin()
    task = layout.setting(layout.without_weights(request.checkpoint), "task", "_name")
    found, seen = measure(request, request.subset, task)
    model = model_record.describe(request.checkpoint, made["inputs"]["checkpoint"]["sha256"])
    content = {"subset": request.subset, "task": task, "measures": found, "models": [model]}
    content |= {"parameters": model["parameters"], "corpus": request.data.resolve().name, "commit": commit()}
    if request.validate:
        content["validation"] = validation(request, task)
    if seen:
        seen.finish(request)
    if seen and seen.rows:
        with stage.claimed(table):
            write_lines(table, seen.lines)
        content |= scored(seen, task, table)
    stage.write(made, content, [table] if seen and seen.rows else [])
    told = found | {name: score["score"] for name, score in content.get("scores", {}).items()}
    print(tabulate(told.items(), floatfmt=".4f", tablefmt="plain"))
    return 0


def beside(record: Path) -> Path:
    """A record that is not called .json keeps its whole name: lm-0.1 and lm-0.2 have a table each."""
    return record.with_name(record.name.removesuffix(".json") + ROWS)


def validation(request: EvaluateRequest, task: str) -> dict[str, Any]:
    """The loss that settings are chosen by, as that of translations is called."""
    found, rows = measure(request, heldout.SUBSET, task)
    named = rows.loss if rows else "loss"
    return {**found, "subset": heldout.SUBSET, "nll_loss": found.get(named, found["loss"])}


@np.errstate(all="ignore")  # of 1,024 bits and more there is no perplexity, of one class alone no correlation
def scored(seen: Rows, task: str, file: Path) -> dict[str, Any]:
    """As run.json says it of a translation; a model whose losses are no numbers has no score."""
    scores = {}
    signature = f"task:{task}|targets:{seen.targets}|sha256:{seen.digest[:12]}"
    for name, figure in metric_table.figured(task, seen.of_numbers).items():
        found = float(figure(seen.table))
        if math.isfinite(found):
            spread = interval(seen.table, figure, SAMPLES, SEED)
            told = {"score": found, "interval": spread if math.isfinite(spread) else None}
            scores[name] = {"metric": metric_table.METRICS[name].label, "signature": signature, **told}
    files = {"sequences": {"path": file.name, "sha256": sha256(file)}}
    return {"scores": scores, "lines": len(seen.rows), "unit": seen.unit, "targets": seen.digest, "files": files}


def stage_of(request: EvaluateRequest) -> Stage:
    for name in ("max_tokens", "batch_size", "mask_seed"):
        if (value := getattr(request, name)) is not None:
            check_number(name, value)
    read = files(request.data, request.subset) if safe_names.is_plain(request.subset) else {}
    if not any(name.endswith((".idx", ".json")) for name in read):
        raise UserError(
            f"{request.data} holds no subset {request.subset}: give another --subset, or --data that has it"
        )
    read |= files(request.data, heldout.SUBSET) if request.validate else {}
    chosen = {"validate": request.validate or None, "mask_seed": request.mask_seed}
    settings = {"subset": request.subset, **{name: value for name, value in chosen.items() if value is not None}}
    return Stage("evaluate", request.output, settings, {"checkpoint": request.checkpoint, **read})


def files(data: Path, subset: str) -> dict[str, Path]:
    """Of the subset and the dictionaries, also of the folders that sentence_prediction has for inputs and labels; else
    its questions."""
    found = sorted([*data.glob("*"), *data.glob("*/*")])  # rglob leaves out what lies behind a link
    kept = (path for path in found if path.suffix in DATA and path.name.partition(".")[0] in (subset, "dict"))
    read = {str(path.relative_to(data)): path for path in kept if path.is_file()}
    if any(name.endswith(".idx") for name in read):
        return read
    questions = {name: data / name for name in (f"{subset}.json", MODEL)}
    return read | {name: path for name, path in questions.items() if path.is_file()}


def measure(request: EvaluateRequest, subset: str, task: str) -> tuple[dict[str, float], Rows | None]:
    """The rows of a task with a metric of them."""
    from fairseq_cli import validate  # which has all log messages printed

    rows, batch = KINDS[task]() if task in KINDS else None, heldout.BatchSize(request.max_tokens, request.batch_size)
    argv = heldout.validate_argv(request.checkpoint, request.data, subset, batch, request.cpu)
    own = {"data": str(request.data)} | (
        {} if request.mask_seed is None else {"seed": request.mask_seed}
    )  # by which it masks
    with quiet(), metrics.aggregate() as seen, watched(rows):
        given = options.parse_args_and_arch(options.get_validation_parser("translation"), input_args=argv)
        validate.main(convert_namespace_to_omegaconf(given), SimpleNamespace(**own))
    if rows and rows.rows and not rows.targets:
        raise UserError(f"{request.data} {subset}: no word of it is masked; give a longer text")
    found = means(seen.state_dict())
    bits = found.get("nll_loss", found.get("loss", math.inf))
    if PERPLEXITY in seen.get_smoothed_values() and bits < sys.float_info.max_exp:
        found["perplexity"] = 2**bits
    return found | (rows.accuracy if rows and rows.rows else {}), rows


def means(rows: list[Any]) -> dict[str, float]:
    """Of fairseq's meters as it stores them; one whose name begins with _ is a part of another."""
    left_out = ("_", *OF_BATCHES)
    kept = ((name, meter) for _, name, kind, meter in rows if kind == "AverageMeter" and not name.startswith(left_out))
    return {name: float(meter["sum"] / meter["count"]) for name, meter in kept if meter["count"]}
