"""The options of models with one side: those of a translation model that do not concern the other one."""

from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass
from typing import Any

from fairseq.dataclass import FairseqDataclass

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import SIDES, TranslationConfig

OF_TWO_SIDES = ("share_all_embeddings", "carry_embeddings", "max_source_positions", "max_target_positions")


def of_side(name: str, side: str, without: tuple[str, ...], added: Mapping[str, tuple[Any, Any]]) -> type:
    """Return a dataclass for fairseq; `added` are further options, each a type and a default or field."""
    (other,) = set(SIDES) - {side}
    excluded = {"_name", *OF_TWO_SIDES, *without}
    shared = [
        (option.name, option.type, field(default=option.default, metadata=option.metadata))
        for option in fields(TranslationConfig)
        if option.name not in excluded and not option.name.startswith(f"{other}_")
    ]
    further = [(option, kind, default) for option, (kind, default) in added.items()]
    return make_dataclass(name, [*shared, *further], bases=(FairseqDataclass,))


def check_room(positions: int, tokens: int, option: str) -> None:
    if tokens > positions:
        raise OptionError(
            f"--tokens-per-sample {tokens} is more than the {positions} positions of the model: pass fewer, or more by "
            f"{option} (and --score-length, with a Synthesizer)"
        )
