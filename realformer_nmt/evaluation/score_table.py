"""Output of `realformer-nmt score`: the scores, the validation, the signatures, the published figures."""

from pathlib import Path
from typing import Any

from tabulate import tabulate

from realformer_nmt.evaluation import metric_table, validation_scores
from realformer_nmt.evaluation.metrics import Score
from realformer_nmt.evaluation.published import PublishedFigure


def table(record: dict[str, Any], scores: dict[str, Score], figures: list[PublishedFigure]) -> str:
    names = (record["corpus"], record["subset"], test_set(record["translation"]))
    title = " ".join(filter(None, names)) or "translation"
    lines = [line(score, metric_table.METRICS[name].digits) for name, score in scores.items()]
    parts = [
        f"{title}, {record['lines']} lines",
        tabulate(lines, ["metric", "score", "95 %", "of"], disable_numparse=True),
    ]
    if record["translation"].get("validation"):
        parts.append(f"validation: {validation_scores.describe(record['translation']['validation'])}")
    parts.append("\n".join(f"{score.metric}: {score.signature}" for score in scores.values()))
    if figures:
        rows = [
            (each.model, f"{each.encoder_layers}-{each.decoder_layers}", _bleu(each), each.metric, _origin(each))
            for each in figures
        ]
        headers = ["published", "layers", "score", "metric", "source"]
        parts.append(tabulate(rows, headers, disable_numparse=True))
        parts.append("Scores of different metrics cannot be compared; run.json says which of ours can, if any.")
    return "\n\n".join(parts)


def line(score: Score, digits: int) -> tuple[str, str, str, str]:
    interval = "" if score.interval is None else f"± {score.interval:.{digits}f}"
    return score.metric, f"{score.score:.{digits}f}", interval, score.text


def test_set(translation: dict[str, Any]) -> str:
    """Return the names of the translated files, in brackets."""
    names = [Path(str(translation["input"])).name] if "input" in translation else translation.get("texts")
    return f"({', '.join(map(str, names))})" if names and isinstance(names, list) else ""


def _bleu(figure: PublishedFigure) -> str:
    return "failed" if figure.bleu is None else f"{figure.bleu:.2f}"


def _origin(figure: PublishedFigure) -> str:
    return "; ".join(filter(None, (figure.paper, figure.note)))
