"""run.json of a cell, with values of the kinds that a report reckons with, which its seal alone does not say."""

import sys
from pathlib import Path
from typing import Any

from realformer_nmt.common import json_records, sealed
from realformer_nmt.evaluation.metric_table import METRICS

AGAIN = "--anew makes it again"
KINDS = {"scores": dict, "models": list, "decoding": dict, "lines": int, "files": dict, "translation": dict}


def read(file: Path) -> dict[str, Any]:
    """Nothing where there is none yet."""
    if not file.is_file():
        return {}
    run = sealed.read(file, AGAIN, {**KINDS, "published": list})
    with json_records.expected(file, AGAIN):
        for name, score in run["scores"].items():
            _demand("scores", name, name in METRICS)
            _demand(f"scores.{name}.score", score["score"], _finite(score["score"]))
            for key in ("metric", "signature"):
                _demand(f"scores.{name}.{key}", score[key], isinstance(score[key], str))
            _demand(f"scores.{name}.interval", score.get("interval"), _absent_or_finite(score.get("interval")))
        _demand("models", run["models"], bool(run["models"]) and isinstance(run["models"][0], dict))
        for key in ("corpus", "subset", "commit"):
            _demand(key, run[key], run[key] is None or isinstance(run[key], str))
        _demand("shortcuts", run["models"][0], isinstance(run["models"][0].get("shortcuts", []), list))
        _demand("parameters", run.get("parameters"), _absent_or_finite(run.get("parameters")))
        loss = (run.get("validation") or {}).get("nll_loss")
        _demand("validation.nll_loss", loss, isinstance(loss, float) or _absent_or_finite(loss))  # NaN is one
    return run


def _demand(name: str, value: object, right: bool) -> None:
    if not right:
        raise ValueError(f"{name} is {value!r}")


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _absent_or_finite(value: object) -> bool:
    return value is None or _finite(value)
