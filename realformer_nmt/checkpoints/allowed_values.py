"""The values that a checkpoint's settings may have: numbers, the texts below, each by its pattern. Nothing is resolved:
a text with ${ is refused."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from realformer_nmt.checkpoints.allowed_kinds import KNOWN, Fields, SettingsError

LANGUAGE = "[A-Za-z0-9_-]{1,64}"
WORD = r"[\w.@ -]{0,64}"
EXPRESSION = r"[\w .,:()\[\]*+-]{0,1000}"  # the layers of fconv, say, which literal_options.py reads
TEXTS: Mapping[str, str] = {  # pattern of each text that is taken
    **dict.fromkeys(("source_lang", "target_lang", "moses_source_lang", "moses_target_lang"), LANGUAGE),
    **dict.fromkeys(("lang_pairs", "langs"), f"{LANGUAGE}(,{LANGUAGE})*"),
    "classification_head_name": LANGUAGE,
    **{"sample_break_mode": LANGUAGE, "shorten_method": LANGUAGE, "shorten_data_split_list": r"[\w,-]{0,1000}"},
    **dict.fromkeys(("encoder_langtok", "decoder_langtok", "lang_tok_style", "sampling_method"), LANGUAGE),
    **{"train_subset": WORD, "eval_bleu_remove_bpe": WORD, "bpe_separator": WORD, "best_checkpoint_metric": WORD},
    "eval_bleu_detok": "|".join(KNOWN["tokenizer"]),
    "eval_bleu_args": r"[\w .,:{}\"-]{0,1000}",
    "eval_bleu_detok_args": r"[\w .,:{}\"-]{0,1000}",
    "data": r"(?!.*://)[^$\0]{0,4096}",
}
TABLES = ("langtoks", "langtoks_specs")
LISTS = ("lang_pairs", "langs")
ALLOWED: Mapping[type, tuple[tuple[type, ...], str]] = {  # by what is declared
    bool: ((bool, int), "yes or no"),
    int: ((int,), "a whole number"),
    float: ((float, int), "a number"),
    str: ((str,), "a text"),
}
PATHS = ("encoder_embed_path", "decoder_embed_path", "carry_embeddings")  # to weights that the checkpoint has itself
NUMBERS = (bool, int, float)
LARGEST = 1000  # number of decoding: a beam of a million would end nothing
COUNTED = ("mask_multiple_length",)  # one by one, for each sentence
ACTING = ("use_plasma_view", "azureml_logging")  # switches that ask another program, of fairseq's choice


def is_taken(name: str, value: Any) -> bool:
    if name in ACTING:
        return False
    if isinstance(value, list):
        return all(type(item) in NUMBERS for item in value)
    return type(value) in NUMBERS or (name in TEXTS and isinstance(value, str) and fits(name, value))


def fits(name: str, value: str) -> bool:
    return "${" not in value and re.fullmatch(TEXTS[name], value, re.DOTALL) is not None


def take(group: str, values: Fields, fields: frozenset[str]) -> Fields:
    """A text that is not as it should be is refused, one that no one needs is left out."""
    found: Fields = {}
    for name in sorted(fields & values.keys()):
        value = values[name]
        if value is None or is_taken(name, value):
            found[name] = value
        elif name == "data":
            found[name] = None  # the caller's own takes its place, and only where it finds one
        elif name in TEXTS:
            found[name] = words(group, name, value)
        elif name in TABLES or (group == "model" and name not in PATHS):
            found[name] = expression(name, plain(value, f"the {group}'s {name}"))
    for name in found.keys() & set(COUNTED):
        if not is_of_decoding(found[name]):
            raise SettingsError(f"has the {group}'s {name} {str(found[name])[:80]}, and allowed is up to {LARGEST:,}")
    for name in ("eval_bleu_args", "eval_bleu_detok_args"):
        demand_numbers(group, name, found.get(name) or "{}")
    return found


def words(group: str, name: str, value: Any) -> Any:
    if name in LISTS and isinstance(value, list) and all(isinstance(item, str) and fits(name, item) for item in value):
        return value
    raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {TEXTS[name]}")


def expression(name: str, value: Any) -> Any:
    """A number or a name, or lists and tables of them."""
    for inner in parts(value):
        expression(name, inner)
    if isinstance(value, str) and not re.fullmatch(EXPRESSION, value):
        raise SettingsError(f"has the model's {name} {value[:80]!r}, which is neither a number nor a name")
    return value


def parts(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list | tuple) else ()


def demand_numbers(group: str, name: str, written: str) -> None:
    """Options of decoding are numbers, and of a tokeniser languages too."""
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    right = isinstance(given, dict) and "tokenizer" not in given
    if not right or not all(map(is_of_decoding, given.values())):
        raise SettingsError(f"has the {group}'s {name} {written[:80]!r}, and allowed are numbers up to {LARGEST:,}")


def is_of_decoding(value: Any) -> bool:
    if type(value) in NUMBERS:
        return bool(abs(value) <= LARGEST)  # no NaN
    return isinstance(value, str) and re.fullmatch(LANGUAGE, value) is not None


def demand_kinds(group: str, given: Fields, kinds: Mapping[str, type]) -> None:
    """A number where a number is declared, a text where a text is; None may stand anywhere."""
    for name in sorted(given.keys() & kinds):
        value, kind = given[name], kinds[name]
        allowed, words = ALLOWED[kind]
        if value is not None and type(value) not in allowed:
            raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {words}")


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
