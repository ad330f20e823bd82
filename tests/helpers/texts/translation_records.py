"""Records of a translation, as `translate` writes them."""

from typing import Any

from realformer_nmt.evaluation.translating.translation_record import TranslationRecord
from reliability.fuzzed_inputs import DECODING


def record(**changes: Any) -> TranslationRecord:
    """Return the record of a translation by no model, of no file."""
    plain = {"checkpoints": [], "checkpoint_sha256": [], "languages": ("en", "de"), "subwords": "none"}
    return TranslationRecord(**{**plain, "decoding": DECODING, "lines": 0, "files": {}, **changes})
