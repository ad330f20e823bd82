"""The values that a checkpoint's settings may have: numbers, and texts that match the patterns below.

omegaconf would look up a text with ${ in other settings or in the environment. Such texts are refused.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from realformer_nmt.checkpoints.files.allowed_components import KNOWN, Fields, SettingsError

LANGUAGE = "[A-Za-z0-9_-]{1,64}"
LANGUAGES = f"{LANGUAGE}(,{LANGUAGE})*"
WORD = r"[\w.@ -]{0,64}"
EXPRESSION = r"[\w .,:()\[\]*+-]{0,1000}"  # such as the layers of fconv, which literal_options.py reads
TEXTS: Mapping[str, str] = {  # the pattern of each text that is allowed
    "source_lang": LANGUAGE,
    "target_lang": LANGUAGE,
    "moses_source_lang": LANGUAGE,
    "moses_target_lang": LANGUAGE,
    "lang_pairs": LANGUAGES,
    "langs": LANGUAGES,
    "classification_head_name": LANGUAGE,
    "sample_break_mode": LANGUAGE,
    "shorten_method": LANGUAGE,
    "shorten_data_split_list": r"[\w,-]{0,1000}",
    "encoder_langtok": LANGUAGE,
    "decoder_langtok": LANGUAGE,
    "lang_tok_style": LANGUAGE,
    "sampling_method": LANGUAGE,
    "train_subset": WORD,
    "eval_bleu_remove_bpe": WORD,
    "bpe_separator": WORD,
    "best_checkpoint_metric": WORD,
    "eval_bleu_detok": "|".join(KNOWN["tokenizer"]),
    "eval_bleu_args": r"[\w .,:{}\"-]{0,1000}",
    "eval_bleu_detok_args": r"[\w .,:{}\"-]{0,1000}",
    "data": r"(?!.*://)[^$\0]{0,4096}",
}
TABLES = ("langtoks", "langtoks_specs")
LISTS = ("lang_pairs", "langs")
ALLOWED: Mapping[type, tuple[tuple[type, ...], str]] = {  # by the declared type: the types of values, in words
    bool: ((bool, int), "yes or no"),
    int: ((int,), "a whole number"),
    float: ((float, int), "a number"),
    str: ((str,), "a text"),
}
PATHS = ("encoder_embed_path", "decoder_embed_path", "carry_embeddings")  # of weights that the checkpoint contains
NUMBERS = (bool, int, float)
LARGEST = 1000  # for numbers of decoding: with a beam of a million it would never end
LOOP_COUNTS = ("mask_multiple_length",)  # fairseq loops so often for each sentence
ACTING = ("use_plasma_view", "azureml_logging")  # switches that make fairseq call other programs


def is_allowed(name: str, value: Any) -> bool:
    """Tell whether a setting's value is a number, a list of numbers or a text that matches its pattern."""
    if name in ACTING:
        return False
    if isinstance(value, list):
        return all(type(item) in NUMBERS for item in value)
    return type(value) in NUMBERS or (name in TEXTS and isinstance(value, str) and fits(name, value))


def fits(name: str, value: str) -> bool:
    return "${" not in value and re.fullmatch(TEXTS[name], value, re.DOTALL) is not None


def allowed_settings(group: str, values: Fields, fields: frozenset[str]) -> Fields:
    """Return those of the fields whose values are allowed; refuse texts that do not match their pattern.

    Other texts, lists and tables are taken only from a model, and only if they are plain numbers and names. A model's
    paths are omitted, as are such values in other groups.
    """
    settings: Fields = {}
    for name in sorted(fields & values.keys()):
        value = values[name]
        if value is None or is_allowed(name, value):
            settings[name] = value
        elif name == "data":
            settings[name] = None  # the caller's data-bin replaces it, but only if the setting is there
        elif name in TEXTS:
            settings[name] = checked_list(group, name, value)
        elif name in TABLES or (group == "model" and name not in PATHS):
            settings[name] = checked_expression(name, checked_plain(value, f"the {group}'s {name}"))
    for name in settings.keys() & set(LOOP_COUNTS):
        value = settings[name]
        if not is_decoding_option(value):
            raise SettingsError(f"has the {group}'s {name} {str(value)[:80]}, and allowed is up to {LARGEST:,}")
    for name in ("eval_bleu_args", "eval_bleu_detok_args"):
        check_numbers(group, name, str(settings.get(name) or "{}"))
    return settings


def checked_list(group: str, name: str, value: Any) -> Any:
    """Return a list of texts that match the setting's pattern, where it may be a list; refuse any other value."""
    if name in LISTS and isinstance(value, list) and all(isinstance(item, str) and fits(name, item) for item in value):
        return value
    raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {TEXTS[name]}")


def checked_expression(name: str, value: Any) -> Any:
    """Return a number or a name, or lists and tables of them; refuse texts with other characters."""
    for item in items_of(value):
        checked_expression(name, item)
    if isinstance(value, str) and not re.fullmatch(EXPRESSION, value):
        raise SettingsError(f"has the model's {name} {value[:80]!r}, which is neither a number nor a name")
    return value


def items_of(value: Any) -> Sequence[Any]:
    """Return the items of a list, the keys and values of a table, and nothing of any other value."""
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list | tuple) else ()


def check_numbers(group: str, name: str, text: str) -> None:
    """Refuse a JSON text that is not a table of decoding options, and one that names a tokeniser."""
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    is_table = isinstance(options, dict) and "tokenizer" not in options
    if not is_table or not all(map(is_decoding_option, options.values())):
        raise SettingsError(f"has the {group}'s {name} {text[:80]!r}, and allowed are numbers up to {LARGEST:,}")


def is_decoding_option(value: Any) -> bool:
    """Tell whether a value is a number that is not too large, or a language."""
    if type(value) in NUMBERS:
        return bool(abs(value) <= LARGEST)  # no NaN
    return isinstance(value, str) and re.fullmatch(LANGUAGE, value) is not None


def check_kinds(group: str, settings: Fields, types: Mapping[str, type]) -> None:
    """Refuse values of other types than the settings are declared to have; None is always allowed."""
    for name in sorted(settings.keys() & types):
        value = settings[name]
        allowed, description = ALLOWED[types[name]]
        if value is not None and type(value) not in allowed:
            raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {description}")


def checked_plain(value: Any, name: str, depth: int = 0) -> Any:
    """Return a number or text, or lists and tables of them; refuse other types, and texts with ${."""
    if isinstance(value, dict | list | tuple) and len(value) < 1000 and depth < 4:
        items = value.values() if isinstance(value, dict) else value
        for item in items:
            checked_plain(item, name, depth + 1)
    elif value is not None and type(value) not in (*NUMBERS, str):
        raise SettingsError(f"has a {type(value).__name__} as {name}; allowed are numbers and text")
    if isinstance(value, str) and "${" in value:
        raise SettingsError(f"has {value[:80]!r} as {name}: allowed is text without ${{")
    return value
