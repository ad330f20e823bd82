"""Output of `realformer-nmt score`: the scores, the validation, the signatures, the published figures."""

from pathlib import Path

from tabulate import tabulate

from realformer_nmt.evaluation.run_record import Score
from realformer_nmt.evaluation.scoring.published import PublishedFigure
from realformer_nmt.evaluation.translating import validation_scores
from realformer_nmt.evaluation.translating.translation_record import TranslationRecord


def table(translation: TranslationRecord, scores: dict[str, Score], figures: list[PublishedFigure]) -> str:
    names = (translation.corpus, translation.subset, test_set(translation))
    title = " ".join(name for name in names if name) or "translation"
    lines = [line(score) for score in scores.values()]
    parts = [
        f"{title}, {translation.lines} lines",
        tabulate(lines, ["metric", "score", "95 %", "of"], disable_numparse=True),
    ]
    if translation.validation:
        parts.append(f"validation: {validation_scores.describe(translation.validation)}")
    parts.append("\n".join(f"{score.metric}: {score.signature}" for score in scores.values()))
    parts += [f"{score.metric}: {empty_ones(score.empty)}" for score in scores.values() if score.empty]
    if figures:
        rows = [
            (
                each.model,
                f"{each.encoder_layers}-{each.decoder_layers}",
                "failed" if each.bleu is None else f"{each.bleu:.2f}",
                each.metric,
                "; ".join(filter(None, (each.paper, each.note))),
            )
            for each in figures
        ]
        headers = ["published", "layers", "score", "metric", "source"]
        parts.append(tabulate(rows, headers, disable_numparse=True))
        parts.append("Scores of different metrics cannot be compared; run.json says which of ours can, if any.")
    return "\n\n".join(parts)


def line(score: Score) -> tuple[str, str, str, str]:
    interval = f"± {score.interval:.2f}" if isinstance(score.interval, float) else ""
    return score.metric, f"{score.score:.2f}", interval, score.text or ""


def empty_ones(number: int) -> str:
    """Return what to know of empty hypotheses, which a neural metric scores like any text."""
    are = "hypothesis is" if number == 1 else "hypotheses are"
    return f"{number} {are} empty, and scored as the model scores an empty text, which may be high"


def test_set(translation: TranslationRecord) -> str:
    """Return the names of the translated files, in brackets."""
    names = [Path(translation.input).name] if translation.input else translation.texts
    return f"({', '.join(names)})" if names else ""
