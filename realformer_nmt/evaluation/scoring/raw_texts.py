"""Raw source and reference of a translation."""

from pathlib import Path

from msgspec import UNSET

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating import evaluation_sets
from realformer_nmt.evaluation.translating.evaluation_sets import TestSetFiles
from realformer_nmt.evaluation.translating.translation_record import TranslationRecord

SOURCE, REFERENCE = 0, 1


def find(request: ScoreRequest, translation: TranslationRecord, side: int) -> Path:
    """Return the file of --source or --reference, or that of the test set or the corpus."""
    named = (request.source, request.reference)[side]
    if named:
        return named
    test_set = of_test_set(request, translation)
    return test_set[side] if test_set else raw(translation, side)


def of_test_set(request: ScoreRequest, translation: TranslationRecord) -> TestSetFiles | None:
    """Return the files of sacreBLEU's test set, if one was translated."""
    name = translation.test_set if request.test_set is None else request.test_set
    if not isinstance(name, str):
        return None
    test_set = evaluation_sets.find(name, translation.languages)
    translated = translation.made_from.inputs.get("input")
    if not translated or translated.sha256 != sha256(test_set.source):
        raise UserError(
            f"{request.translation} is no translation of {test_set.source}: `translate --test-set {name}` first"
        )
    return test_set


def raw(translation: TranslationRecord, side: int) -> Path:
    """Return the corpus's raw text of the source (0) or the target (1)."""
    option = ("--source", "--reference")[side]
    if not translation.prepared or translation.subset is UNSET:
        raise UserError(f"pass {option} FILE: the translation does not say which raw text belongs to it")
    return Path(translation.prepared, f"{translation.subset}.raw.{translation.languages[side]}")
