"""Of a checkpoint's configuration only what a translation model needs: its numbers, and names that are known here.

A model, task, criterion, tokeniser or BPE of fairseq's own is one of KNOWN; one of a plug-in that the command line
names is that plug-in's affair. Of their fields those are taken that they declare, as numbers and words; of paths only
the data-bin's. Nothing is resolved: a text with ${ is refused.
"""

import argparse
import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY
from omegaconf import OmegaConf

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
    ),
    "task": ("translation", "multilingual_translation", "translation_multi_simple_epoch"),
    "criterion": ("cross_entropy", SMOOTHED, f"{SMOOTHED}_fused", f"{SMOOTHED}_with_alignment", "adaptive_loss"),
    "bpe": ("subword_nmt", "sentencepiece", "fastbpe", "characters", "bytes"),
    "tokenizer": ("moses", "nltk", "space"),
}
CHOSEN_AS = {"model": ("_name", "arch"), **{group: ("_name", group) for group in KNOWN if group != "model"}}
LANGUAGE = "[A-Za-z0-9_-]{1,64}"
WORD = r"[\w.@ -]{0,64}"
EXPRESSION = r"[\w .,:()\[\]*+-]{0,1000}"  # the layers of fconv, say, which plain_values.py reads
TEXTS: Mapping[str, str] = {  # pattern of each text that is taken
    **dict.fromkeys(("source_lang", "target_lang", "moses_source_lang", "moses_target_lang"), LANGUAGE),
    **dict.fromkeys(("lang_pairs", "langs"), f"{LANGUAGE}(,{LANGUAGE})*"),
    **dict.fromkeys(("encoder_langtok", "decoder_langtok", "lang_tok_style", "sampling_method"), LANGUAGE),
    **{"train_subset": WORD, "eval_bleu_remove_bpe": WORD, "bpe_separator": WORD, "best_checkpoint_metric": WORD},
    "eval_bleu_detok": "|".join(KNOWN["tokenizer"]),
    "eval_bleu_args": r"[\w .,:{}\"-]{0,1000}",
    "eval_bleu_detok_args": r"[\w .,:{}\"-]{0,1000}",
    "data": r"(?!.*://)[^$\0]{0,4096}",
}
TABLES = ("langtoks", "langtoks_specs")
LISTS = ("lang_pairs", "langs")
PATHS = ("encoder_embed_path", "decoder_embed_path")  # of weights that the checkpoint brings itself
METERS = ("AverageMeter", "SumMeter", "TimeMeter", "StopwatchMeter")
NUMBERS = (bool, int, float)


class SettingsError(UserError):
    """Says what a checkpoint asks for; whoever knows its file adds it."""


def take_settings(state: Mapping[str, Any]) -> dict[str, Any]:
    """The same checkpoint with no more than what is taken of its settings."""
    taken = dict(state)
    if taken.get("args") is not None:
        taken["args"] = flat(fields_of(taken["args"], "args"))
    if taken.get("cfg") is not None:
        taken["cfg"] = grouped(fields_of(taken["cfg"], "cfg"))
    demand_known_meters(taken.get("extra_state"))
    return taken


def fields_of(given: Any, name: str) -> Fields:
    found = vars(given) if isinstance(given, argparse.Namespace) else given
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise SettingsError(f"its {name} are no options but a {type(given).__name__}")
    return found


def grouped(cfg: Fields) -> Fields:
    """fairseq's groups, with its own defaults wherever nothing is taken."""
    found = {name: take_numbers(group, cfg.get(name)) for name, group in general().items()}
    return {**found, **{group: choice(group, cfg.get(group)) for group in CHOSEN_AS}, **NONE}


NONE = dict.fromkeys(("optimizer", "lr_scheduler", "scoring"))


@functools.cache
def general() -> Mapping[str, Fields]:
    """The groups that every run of fairseq has, with their defaults."""
    defaults: Any = OmegaConf.to_container(OmegaConf.structured(FairseqConfig()), resolve=True, enum_to_str=True)
    return {name: group for name, group in defaults.items() if isinstance(group, dict)}


def take_numbers(defaults: Fields, given: Any) -> Fields:
    """And the few texts that are known."""
    values = fields_of({} if given is None else given, "settings")
    return {name: values[name] if is_taken(name, values.get(name)) else default for name, default in defaults.items()}


def is_taken(name: str, value: Any) -> bool:
    if isinstance(value, list):
        return all(type(item) in NUMBERS for item in value)
    return type(value) in NUMBERS or (name in TEXTS and isinstance(value, str) and fits(name, value))


def fits(name: str, value: str) -> bool:
    return "${" not in value and re.fullmatch(TEXTS[name], value, re.DOTALL) is not None


def choice(group: str, given: Any) -> Any:
    """One of the known, by name or with its fields."""
    if given is None:
        return None
    if isinstance(given, argparse.Namespace):
        return flat(vars(given), group)
    if isinstance(given, str):
        demand_known(group, given)
        return given
    values = fields_of(given, group)
    name = named(group, values)
    kind = demand_known(group, name)
    own = take(group, values, declared(kind))
    if is_of_plug_in(kind):
        rest = (values.keys() & declared(kind)) - {*TEXTS, *CHOSEN_AS[group], "dataset_impl"}
        own |= {field: plain(values[field], f"the {group}'s {field}") for field in sorted(rest)}
    return {**(files_to_give(kind) if group in ("bpe", "tokenizer") else {}), **own, "_name": name}


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


def flat(values: Fields, group: str | None = None) -> argparse.Namespace:
    """The options of models and tasks without a dataclass: those of a whole command line in one."""
    found = {name: default for defaults in general().values() for name, default in defaults.items()}
    found = {**take_numbers(found, values), "dataset_impl": None}
    for part, fields in CHOSEN_AS.items():
        name = values.get(fields[1]) if part != group else named(part, values)
        if name is not None:
            kind = demand_known(part, name)
            found |= {**take(part, values, declared(kind)), fields[1]: name}
    if group is not None:
        found["_name"] = found[CHOSEN_AS[group][1]]
    return argparse.Namespace(**found)


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


def declared(kind: type) -> frozenset[str]:
    """The fields that a class has, or asks its command line for."""
    dataclass = getattr(kind, "__dataclass", None)
    if dataclass is not None:
        return frozenset(field.name for field in dataclasses.fields(dataclass))
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
    if hasattr(kind, "add_args"):
        kind.add_args(parser)
    return frozenset(action.dest for action in parser._actions)


def take(group: str, values: Fields, fields: frozenset[str]) -> Fields:
    """A text that is not as it should be is refused, one that no one needs is left out."""
    found: Fields = {}
    for name in sorted(fields & values.keys()):
        value = values[name]
        if value is None or is_taken(name, value):
            found[name] = value
        elif name in TEXTS and name != "data":
            found[name] = words(group, name, value)
        elif name in TABLES or (group == "model" and name not in PATHS):
            found[name] = expression(name, plain(value, f"the {group}'s {name}"))
    for name in ("eval_bleu_args", "eval_bleu_detok_args"):
        demand_numbers(group, name, found.get(name) or "{}")
    return found


def words(group: str, name: str, value: Any) -> Any:
    if name in LISTS and isinstance(value, list) and all(isinstance(item, str) and fits(name, item) for item in value):
        return value
    raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {TEXTS[name]}")


def expression(name: str, value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(EXPRESSION, value):
        raise SettingsError(f"has the model's {name} {value[:80]!r}, which is neither a number nor a name")
    return value


def demand_numbers(group: str, name: str, written: str) -> None:
    """Options of decoding are numbers, and of a tokeniser languages too."""
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    right = isinstance(given, dict) and "tokenizer" not in given
    if not right or not all(type(value) in NUMBERS or re.fullmatch(LANGUAGE, str(value)) for value in given.values()):
        raise SettingsError(f"has the {group}'s {name} {written[:80]!r}, and allowed are numbers")


def plain(value: Any, name: str, depth: int = 0) -> Any:
    """Numbers, text and lists and tables of them, as they are."""
    if isinstance(value, dict | list | tuple) and len(value) < 1000 and depth < 4:
        inner = value.values() if isinstance(value, dict) else value
        for item in inner:
            plain(item, name, depth + 1)
    elif value is not None and type(value) not in (*NUMBERS, str):
        raise SettingsError(f"has a {type(value).__name__} of its own as {name}, and allowed are numbers and text")
    if isinstance(value, str) and "${" in value:
        raise SettingsError(f"has {value[:80]!r} as {name}: nothing of a checkpoint is looked up")
    return value


def demand_known_meters(extra: Any) -> None:
    """fairseq makes meters of any name that stands there."""
    metrics = extra.get("metrics") if isinstance(extra, dict) else None
    for rows in (metrics or {}).values() if isinstance(metrics, dict | None) else (None,):
        if not isinstance(rows, list) or not all(isinstance(row, list | tuple) and row[2:3] for row in rows):
            raise SettingsError("has meters of another kind than fairseq's")
        if not all(row[2] in METERS for row in rows):
            raise SettingsError(f"has meters that fairseq does not know: allowed are {', '.join(METERS)}")
