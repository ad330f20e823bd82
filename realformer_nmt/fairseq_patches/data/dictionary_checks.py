"""Checks that a checkpoint was trained with the dictionaries and languages of the data-bin.

With another dictionary each subword would get another's weights.
"""

import hashlib
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks import LegacyFairseqTask
from fairseq.tasks.multilingual_translation import MultilingualTranslationTask
from fairseq.tasks.translation import TranslationTask
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from realformer_nmt import tasks
from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, replace

TASKS: Mapping[str, Any] = {name: resolve_name(task.implementation) for name, task in tasks.TASKS.items()}  # classes
CHECKED: tuple[Any, ...] = (*TASKS.values(), MultilingualTranslationTask, TranslationMultiSimpleEpochTask)


def remember_dictionaries() -> None:
    """Save dictionaries and languages in checkpoints, and check them on loading."""
    for kind in CHECKED:
        replace(kind, "state_dict", state_dict)
        replace(kind, "load_state_dict", load_state_dict)


def state_dict(original: Original, task: Any) -> dict[str, object]:
    languages = {"languages": pair(task)} if isinstance(task, TranslationTask) else {}
    subwords = {"subwords": task.subwords} if hasattr(task, "subwords") else {}
    return {**original(task), "dictionaries": fingerprints(words(task)), **languages, **subwords}


def load_state_dict(original: Original, task: Any, state: Mapping[str, object]) -> None:
    check_corpus(task, state)
    original(task, state)


def words(task: Any) -> dict[str, Dictionary]:
    """Return the dictionaries by side, or by language; a task of one text has no target, or one of classes."""
    if isinstance(task, MultilingualTranslationTask | TranslationMultiSimpleEpochTask):
        return dict(task.dicts)
    sides = ("source", "target") if isinstance(task, TranslationTask) else ("source",)
    return {side: getattr(task, f"{side}_dictionary") for side in sides}


def settings(task: Any) -> Any:
    return task.args if isinstance(task, LegacyFairseqTask) else task.cfg


def pair(task: TranslationTask) -> list[str]:
    return [task.cfg.source_lang, task.cfg.target_lang]


def fingerprints(dictionaries: Mapping[str, Dictionary]) -> dict[str, str]:
    return {side: fingerprint(dictionary) for side, dictionary in dictionaries.items()}


def fingerprint(dictionary: Dictionary) -> str:
    return hashlib.sha256("\n".join(dictionary.symbols).encode(errors="surrogateescape")).hexdigest()


class OtherCorpusError(UserError):
    """Error of a checkpoint of another corpus; a caller that has the path of its file adds it."""


def check_corpus(
    task: Any, state: Mapping[str, Any] | None, finetuning: bool = False, other_words: bool = False
) -> None:
    """Check the words and languages of a checkpoint; finetuning may change the languages, but not reverse them."""
    if not other_words:
        check_same(words(task), settings(task).data, state)
        check_same_subwords(task, state)
    if isinstance(task, TranslationTask):
        check_same_languages(task, state, finetuning)


def check_same(dictionaries: Mapping[str, Dictionary], folder: object, state: Mapping[str, Any] | None) -> None:
    saved = entry(state, "dictionaries", dict)
    for side, current in fingerprints(dictionaries).items():
        if saved.get(side, current) != current:
            raise OtherCorpusError(
                f"the checkpoint was trained with another {side} dictionary than that of {folder}: the words, "
                "or their order, differ; give the data-bin of its corpus"
            )


def check_same_languages(task: Any, state: Mapping[str, Any] | None, finetuning: bool) -> None:
    """Check the languages: with a joined dictionary weights of another pair fit, and translate into no language."""
    trained, current = entry(state, "languages", list), pair(task)
    if trained and trained != current and not (finetuning and trained != current[::-1]):
        raise OtherCorpusError(
            f"the checkpoint translates from {' to '.join(map(str, trained))}, but asked for is "
            f"{' to '.join(current)}: give --source-lang and --target-lang of the checkpoint, or a checkpoint of "
            "this pair"
        )


def check_same_subwords(task: Any, state: Mapping[str, Any] | None) -> None:
    """Check the sentencepiece model of a task that splits its texts into subwords itself."""
    trained, current = entry(state, "subwords", str), getattr(task, "subwords", "")
    if trained and current and trained != current:
        raise OtherCorpusError(
            f"the checkpoint's texts were cut by another sentencepiece.model than those of {settings(task).data}, or "
            "one of both by none: give the folder that it was trained on, or the same sentencepiece.model"
        )


def entry(state: Mapping[str, Any] | None, name: str, kind: type) -> Any:
    """Return an entry of a checkpoint's state, or an empty one where it is missing or of another type."""
    value = state.get(name) if isinstance(state, Mapping) else None
    return value if isinstance(value, kind) else kind()
