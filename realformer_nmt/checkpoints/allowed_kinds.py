"""The models, tasks, criteria, tokenisers and BPEs that a checkpoint may ask for, and the fields that each declares:
those known here, and those of a plug-in that the command line names."""

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any

from fairseq.models import ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

from realformer_nmt.common.errors import UserError

Fields = dict[str, Any]
SMOOTHED = "label_smoothed_cross_entropy"
KNOWN: Mapping[str, tuple[str, ...]] = {
    "model": (
        *(
            "transformer",
            "transformer_align",
            "multilingual_transformer",
            "realformer_nmt",
            "multilingual_realformer_nmt",
        ),
        *("fconv", "lightconv", "lstm"),
        *("transformer_lm", "roberta", "realformer_nmt_lm", "realformer_nmt_bert"),
    ),
    "task": (
        *("translation", "multilingual_translation", "translation_multi_simple_epoch"),
        *("language_modeling", "masked_lm", "span_masked_lm", "sentence_prediction"),
    ),
    "criterion": (
        *("cross_entropy", SMOOTHED, f"{SMOOTHED}_fused", f"{SMOOTHED}_with_alignment", "adaptive_loss"),
        *("masked_lm", "sentence_prediction"),
    ),
    "bpe": ("subword_nmt", "sentencepiece", "fastbpe", "characters", "bytes"),
    "tokenizer": ("moses", "nltk", "space"),
}
LATER = ("decoding_precision",)  # options of models that older checkpoints do not have
CHOSEN_AS = {"model": ("_name", "arch"), **{group: ("_name", group) for group in KNOWN if group != "model"}}


class SettingsError(UserError):
    """Says what a checkpoint asks for; whoever knows its file adds it."""


def files_to_give(kind: type) -> Fields:
    """Of a BPE, such as its codes: the file is the caller's, ??? until then."""
    dataclass = getattr(kind, "__dataclass", None)
    fields = dataclasses.fields(dataclass) if dataclass else ()
    return {field.name: "???" for field in fields if field.default == "???"}


def named(group: str, values: Fields) -> str:
    name = next((values[field] for field in CHOSEN_AS[group] if values.get(field)), None)
    if not isinstance(name, str):
        raise SettingsError(f"its {group} has no name")
    return name


def demand_known(group: str, name: Any) -> type:
    registered = registry(group)
    kind = registered.get(name) if isinstance(name, str) else None
    base = ARCH_MODEL_NAME_REGISTRY.get(name, name) if group == "model" and isinstance(name, str) else name
    if kind is None or not (base in KNOWN[group] or is_of_plug_in(kind)):
        allowed = f"{', '.join(KNOWN[group])}, or one of your own --user-dir"
        raise SettingsError(f"asks for the {group} {str(name)[:80]!r}; a checkpoint may ask for {allowed}")
    return kind


def registry(group: str) -> Mapping[str, type]:
    if group == "model":
        return {**MODEL_REGISTRY, **ARCH_MODEL_REGISTRY}
    found: Mapping[str, type] = TASK_REGISTRY if group == "task" else REGISTRIES[group]["registry"]
    return found


def is_of_plug_in(kind: type) -> bool:
    return kind.__module__.split(".")[0] != "fairseq"


def added_later(kind: type) -> Fields:
    """What a checkpoint of before lacks, with its default: --model-overrides changes no more than it finds."""
    dataclass = getattr(kind, "__dataclass", None)
    fields = () if dataclass is None else dataclasses.fields(dataclass)
    return {field.name: field.default for field in fields if field.name in LATER}


def declared(kind: type) -> frozenset[str]:
    """The fields that a class has, or asks its command line for."""
    dataclass = getattr(kind, "__dataclass", None)
    if dataclass is not None:
        return frozenset(field.name for field in dataclasses.fields(dataclass))
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
    if hasattr(kind, "add_args"):
        kind.add_args(parser)
    return frozenset(action.dest for action in parser._actions)


def kinds(kind: type) -> Mapping[str, type]:
    """Of the fields of a class those whose default, or whose option, tells what may stand there."""
    dataclass = getattr(kind, "__dataclass", None)
    if dataclass is None:
        return {}
    found = {field.name: of_field(field) for field in dataclasses.fields(dataclass)}
    return {name: kind for name, kind in found.items() if kind is not None}


def of_field(field: dataclasses.Field[Any]) -> type | None:
    """What it is declared to be, where that is plain: fairseq's floats may have a whole number for a default."""
    default = field.default
    if isinstance(default, str) and "${" in default:
        return None  # of another option
    return next((kind for kind in (field.type, type(default)) if kind in (bool, int, float, str)), None)
