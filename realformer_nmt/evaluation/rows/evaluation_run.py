"""Loss and scores of a model of any task on a subset: the means that fairseq-validate prints, unrounded."""

import math
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace
from tabulate import tabulate

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.files.text_lines import sha256, write_lines
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.common.stages.versions import commit
from realformer_nmt.common.user_dir import for_fairseq
from realformer_nmt.evaluation import model_record
from realformer_nmt.evaluation.metrics import metric_table
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.evaluation.rows.resampling import interval
from realformer_nmt.evaluation.rows.row_table import MeasuredRows, collect_rows
from realformer_nmt.evaluation.run_record import RecordedFile, RunRecord, Score
from realformer_nmt.evaluation.translating import validation_scores
from realformer_nmt.evaluation.translating.translation_record import Measures
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.questions.windows import MODEL
from realformer_nmt.tasks import task_named

DATA = (".idx", ".bin", ".txt", ".label")  # not records of measurements that lie beside them
PERPLEXITY = "ppl"  # as fairseq calls it
EXCLUDED = ("_", "wpb", "bsz")  # parts of other figures, words and sentences per batch
ROWS = ".sequences.tsv"  # beside the record
SAMPLES, SEED = 1000, 12345  # of the bootstrap, the defaults of `score`


def run(request: EvaluateRequest) -> int:
    stage = stage_of(request)
    table = table_path(request.output)
    if stage.is_up_to_date(request.fresh, table):
        return 0
    origin = stage.new_origin()
    task = checkpoint_fields.setting(checkpoint_fields.without_weights(request.checkpoint), "task", "_name")
    values, rows = measure(request, request.subset, task)
    model = model_record.describe(request.checkpoint)
    record = RunRecord(
        corpus=request.data.resolve().name,
        subset=request.subset,
        task=task,
        measures=values,
        models=[model],
        parameters=model.parameters,
        validation=validation(request, task) if request.validate else UNSET,
        commit=commit(),
        made_from=origin,
    )
    if rows:
        rows.finish(request)
    if rows and rows.rows:
        with stage.claimed(table):
            write_lines(table, rows.lines)
        record = replace(with_rows(record, rows, task, table), outputs=stage.fingerprints(table))
    stage.write(record)
    printed = values | {name: score.score for name, score in record.scores.items()}
    print(tabulate(printed.items(), floatfmt=".4f", tablefmt="plain"))
    return 0


def table_path(record: Path) -> Path:
    """Return the path of the table beside a record; only .json is cut off, so that lm-0.1 and lm-0.2 have one each."""
    return record.with_name(record.name.removesuffix(".json") + ROWS)


def validation(request: EvaluateRequest, task: str) -> Measures:
    """Return the scores on the validation data; nll_loss is the loss by which settings are chosen."""
    values, rows = measure(request, validation_scores.SUBSET, task)
    loss = task_named(task).loss if rows else "loss"
    return {**values, "subset": validation_scores.SUBSET, "nll_loss": values.get(loss, values["loss"])}


@np.errstate(all="ignore")  # 1,024 bits or more have no perplexity, one class no correlation
def with_rows(record: RunRecord, rows: MeasuredRows, task: str, file: Path) -> RunRecord:
    """Return the record with the scores of rows; those that are not finite are left out."""
    scores = {}
    signature = f"task:{task}|targets:{rows.targets}|sha256:{rows.digest[:12]}"
    for name, figure in metric_table.row_figures(task, rows.of_numbers).items():
        score = float(figure(rows.table))
        if math.isfinite(score):
            spread = interval(rows.table, figure, SAMPLES, SEED)
            scores[name] = Score(
                metric=metric_table.METRICS[name].label,
                signature=signature,
                score=score,
                interval=spread if math.isfinite(spread) else None,
            )
    files = {"sequences": RecordedFile(path=file.name, sha256=sha256(file))}
    return replace(record, scores=scores, lines=len(rows.rows), unit=rows.unit, targets=rows.digest, files=files)


def stage_of(request: EvaluateRequest) -> Stage:
    inputs: dict[str, Path] = {}
    for subset in (request.subset, *([validation_scores.SUBSET] if request.validate else [])):
        of_subset = files(request.data, subset) if safe_names.is_plain(subset) else {}
        if not any(name.endswith((".idx", ".json")) for name in of_subset):
            raise UserError(f"{request.data} holds no subset {subset}: give --data that has it, or another --subset")
        inputs |= of_subset
    settings: dict[str, object] = {"subset": request.subset}
    if request.validate:
        settings["validate"] = True
    if request.mask_seed is not None:
        settings["mask_seed"] = request.mask_seed
    return Stage("evaluate", request.output, settings, {"checkpoint": request.checkpoint, **inputs})


def files(data: Path, subset: str) -> dict[str, Path]:
    """Return the files of a subset by name: binarised text and dictionaries, or else questions.

    sentence_prediction has folders of inputs and labels within the data-bin.
    """
    paths = sorted([*data.glob("*"), *data.glob("*/*")])  # rglob would not follow a linked folder
    of_subset = [path for path in paths if path.suffix in DATA and path.name.partition(".")[0] in (subset, "dict")]
    inputs = {str(path.relative_to(data)): path for path in of_subset if path.is_file()}
    if any(name.endswith(".idx") for name in inputs):
        return inputs
    questions = {name: data / name for name in (f"{subset}.json", MODEL)}
    return inputs | {name: path for name, path in questions.items() if path.is_file()}


def measure(request: EvaluateRequest, subset: str, task: str) -> tuple[dict[str, float], MeasuredRows | None]:
    """Return fairseq-validate's means and, for a task with metrics of rows, the rows."""
    rows = rows_of(task)
    batch = {"max_tokens": request.max_tokens, "batch_size": request.batch_size}
    argv = validation_scores.validate_argv(request.checkpoint, request.data, subset, batch, request.cpu)
    argv += for_fairseq(request.user_dir)
    overrides = {} if request.mask_seed is None else {"seed": request.mask_seed}
    with quiet(), collect_rows(rows):
        meters = validation_scores.validate(argv, **overrides)
    if rows and rows.rows and not rows.targets:
        raise UserError(f"{request.data} {subset}: no token of it is masked; give a longer text")
    values = means(meters.state_dict())
    bits = values.get("nll_loss", values.get("loss", math.inf))
    if PERPLEXITY in meters.get_smoothed_values() and bits < sys.float_info.max_exp:
        values["perplexity"] = 2**bits
    if rows and rows.rows:
        values |= rows.accuracy
    return values, rows


def rows_of(task: str) -> MeasuredRows | None:
    """Return the empty rows of a task, or None if it has none."""
    name = task_named(task).rows
    rows: MeasuredRows | None = resolve_name(name)() if name else None
    return rows


def means(meters: list[Any]) -> dict[str, float]:
    """Return the means of fairseq's stored meters."""
    values = {}
    for _, name, kind, meter in meters:
        if kind == "AverageMeter" and not name.startswith(EXCLUDED) and meter["count"]:
            values[name] = float(meter["sum"] / meter["count"])
    return values
