"""run.json of a cell, with the types of its values checked: a report computes with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.common import checksummed_json, json_records
from realformer_nmt.comparison.records import kinds
from realformer_nmt.comparison.records.kinds import absent_or, count, finite, number, text
from realformer_nmt.evaluation.metric_table import METRICS

AGAIN = "use --fresh to redo it"
KINDS = {"scores": dict, "models": list, "lines": int, "files": dict}
OF_RUN = {
    **dict.fromkeys(("corpus", "subset", "commit", "unit"), absent_or(text)),
    **dict.fromkeys(("decoding", "translation"), absent_or(kinds.table)),
    **{"parameters": absent_or(finite), "published": absent_or(kinds.list_of(kinds.table))},
}
SCORE = {"score": finite, "metric": text, "signature": text, "interval": absent_or(finite)}
SHORTCUT = {"sublayer": text, "mean": number}
FIGURE = {
    **dict.fromkeys(("paper", "model", "metric", "note"), text),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), count),
    **{"bleu": absent_or(finite), "comparable_with": absent_or(text)},
}


def read(file: Path) -> dict[str, Any]:
    """Read and check a run.json; return nothing where there is none yet."""
    if not file.is_file():
        return {}
    run = checksummed_json.read(file, AGAIN, KINDS)
    with json_records.expected(file, AGAIN):
        kinds.check(run, OF_RUN)
        for name, score in run["scores"].items():
            if name not in METRICS:
                raise ValueError(f"scores is {name!r}")
            kinds.check(score, SCORE, f"scores.{name}.")
        kinds.check_rows(run["models"][0].get("shortcuts", []), SHORTCUT, "shortcuts")
        kinds.check_rows(run.get("published") or [], FIGURE, "published")
        kinds.check(run.get("validation") or {}, {"nll_loss": absent_or(number)}, "validation.")
    return run


def validation_loss(run: Mapping[str, Any]) -> float | None:
    loss: float | None = (run.get("validation") or {}).get("nll_loss")
    return loss
