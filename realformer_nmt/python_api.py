"""The commands as functions of Python: `realformer_nmt.train(data="data/data-bin", folder="run", ...)`.

Options are those of the command line, with underscores; paths may be strings. Each function returns its main
result, a file or a folder. Errors that a user can fix are `realformer_nmt.common.errors.UserError`.
"""

from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints.run_files import RECORD
from realformer_nmt.common import extras
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import Request
from realformer_nmt.subcommands import SUBCOMMANDS, import_user_dir, request_of
from realformer_nmt.subcommands import register as register_models

ROWS = {row.name: row for row in SUBCOMMANDS}


def prepare(corpus: str | None = None, **options: Any) -> Path:
    """Prepare a corpus for training; return its prepare.json."""
    return Path(_run("prepare", corpus=corpus, **options).folder, "prepare.json")


def train(**options: Any) -> Path:
    """Train a model by a protocol; return its train.json."""
    return Path(_run("train", **options).folder, RECORD)


def average(*checkpoints: str | Path, **options: Any) -> Path:
    """Average checkpoints, or those of a folder; return the averaged checkpoint."""
    return Path(_run("average", inputs=checkpoints, **options).output)


def translate(*checkpoints: str | Path, **options: Any) -> Path:
    """Translate a test set or raw text with a model, or an ensemble; return the file of the hypotheses."""
    return Path(_run("translate", checkpoints=checkpoints, **options).output, "hypotheses.txt")


def score(translation: str | Path, **options: Any) -> Path:
    """Score a folder of translations; return its run.json."""
    return Path(_run("score", translation=translation, **options).output)


def evaluate(checkpoint: str | Path, **options: Any) -> Path:
    """Measure a model of any task; return the record."""
    return Path(_run("evaluate", checkpoint=checkpoint, **options).output)


def import_model(folder: str | Path, **options: Any) -> Path:
    """Take over a model of Hugging Face; return the run's folder."""
    return Path(_run("import", model=folder, **options).output)


def export(model: str | Path, **options: Any) -> Path:
    """Write a model as other programs read it; return the folder."""
    return Path(_run("export", model=model, **options).output)


def analyse(*models: str | Path, **options: Any) -> Path:
    """Look into trained models; return the record, beside which the figures lie."""
    return Path(_run("analyse", models=models, **options).folder, "analysis.json")


def run(corpus: str, **options: Any) -> Path:
    """Go from a corpus' archives to the scores of a model; return its run.json, or prepare.json of stage prepare."""
    from realformer_nmt.comparison.pipeline import scores  # late: the other commands do without it

    return scores(_run("run", corpus=corpus, **options))


def compare(grid: str | Path, **options: Any) -> Path:
    """Train and score all cells of a grid; return the report."""
    return Path(_run("compare", grid=grid, **options).folder, "report.html")


def _run(name: str, /, **options: Any) -> Any:
    row = ROWS[name]
    with extras.user_errors(name):
        extras.check(row.extra)
        if row.in_fairseq:
            register_models(name)
        import_user_dir(name, Path(options["user_dir"]) if options.get("user_dir") else None)
        request: Request = request_of(row).of(**options)
        if request.run():
            raise UserError(f"`{name}` did not end well, for the reason above")
    return request
