"""The options of a model with one side: those of a translation model that speak of no other."""

from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass
from typing import Any

from fairseq.dataclass import FairseqDataclass

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import SIDES, TranslationConfig

OF_TWO_SIDES = ("share_all_embeddings", "carry_embeddings", "max_source_positions", "max_target_positions")


def of_side(name: str, side: str, without: tuple[str, ...], added: Mapping[str, tuple[Any, Any]]) -> type:
    """A dataclass for fairseq. `added` are further options: type, and default or field."""
    (other,) = set(SIDES) - {side}
    left_out = {"_name", *OF_TWO_SIDES, *without}
    kept = [
        (known.name, known.type, field(default=known.default, metadata=known.metadata))
        for known in fields(TranslationConfig)
        if known.name not in left_out and not known.name.startswith(f"{other}_")
    ]
    further = [(option, kind, default) for option, (kind, default) in added.items()]
    return make_dataclass(name, [*kept, *further], bases=(FairseqDataclass,))


def check_room(positions: int, tokens: int, option: str) -> None:
    if tokens > positions:
        raise OptionError(
            f"--tokens-per-sample {tokens} is more than the {positions} positions of the model: pass fewer, or more by "
            f"{option} (and --score-length, with a Synthesizer)"
        )
