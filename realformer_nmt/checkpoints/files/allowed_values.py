"""The values that a checkpoint's settings may have: numbers, and texts that match the patterns below.

No text names a file or an address, and none has ${, which omegaconf would look up in other settings or the environment.
"""

import re
from typing import Any

from realformer_nmt.checkpoints.files.allowed_components import KNOWN, Fields, SettingsError, declared, is_own

# A flat JSON table of numbers and languages, such as {"beam": 4}
JSON_TABLE = r'(?!.*tokenizer) ?\{ ?("\w+" ?: ?("[\w-]{0,64}"|[\w.+-]{1,20}) ?(, ?)?){0,20}\} ?'
PATTERNS = {
    r"[\w,.-]{0,1000}": """source_lang target_lang moses_source_lang moses_target_lang lang_pairs langs encoder_langtok
        decoder_langtok lang_tok_style sampling_method classification_head_name sample_break_mode shorten_method
        shorten_data_split_list train_subset best_checkpoint_metric""",
    r"[\w.@ -]{0,64}": "eval_bleu_remove_bpe bpe_separator",
    "|".join(KNOWN["tokenizer"]): "eval_bleu_detok",
    JSON_TABLE: "eval_bleu_args eval_bleu_detok_args",
    r"(?!.*://)[^$\0]{0,4096}": "data",
}
TEXTS = {name: pattern for pattern, names in PATTERNS.items() for name in names.split()}
LISTS = ("lang_pairs", "langs")  # texts of which there may be several
TABLES = ("langtoks", "langtoks_specs")
EXPRESSION = r"[\w .,:()\[\]*+-]{0,1000}"  # such as a list, which literal_options.py reads
OWN_TEXT = r"((?!\$\{).)*"  # of a component of the user's own
PATHS = ("encoder_embed_path", "decoder_embed_path", "carry_embeddings")  # of weights that the checkpoint contains
NUMBERS = (bool, int, float)
ACTING = ("use_plasma_view", "azureml_logging")  # switches that make fairseq call other programs


def is_allowed(name: str, value: Any) -> bool:
    """Tell whether a setting's value is a number, a text that matches its pattern, or a list of them."""
    if isinstance(value, list):
        return all(type(item) in NUMBERS or (name in LISTS and is_allowed(name, item)) for item in value)
    is_text = isinstance(value, str) and name in TEXTS and re.fullmatch(TEXTS[name], value, re.DOTALL)
    return name not in ACTING and (type(value) in NUMBERS or bool(is_text))


def allowed_settings(group: str, component: type, values: Fields) -> Fields:
    """Return the settings that a component declares and whose values are allowed; refuse odd texts.

    Other texts, lists and tables are taken only from a model, and only if they are plain numbers and names, and from
    components of the user's own. A model's paths are omitted, as are such values in other groups.
    """
    settings: Fields = {}
    for name in sorted(declared(component) & values.keys()):
        value = values[name]
        if value is None or is_allowed(name, value):
            settings[name] = value
        elif name == "data":
            settings[name] = None  # the caller's data-bin replaces it, but only if the setting is there
        elif name in TEXTS:
            raise SettingsError(f"has the {group}'s {name} {str(value)[:80]!r}, and allowed is {TEXTS[name]}")
        elif name not in ACTING and (is_own(component) or name in TABLES or (group == "model" and name not in PATHS)):
            check_plain(f"{group}'s {name}", value, OWN_TEXT if is_own(component) else EXPRESSION)
            settings[name] = value
    return settings


def check_plain(name: str, value: Any, texts: str) -> None:
    """Refuse other values than numbers, matching texts, and lists and tables of these."""
    if isinstance(value, dict | list | tuple):
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            check_plain(name, item, texts)
    elif not (value is None or type(value) in NUMBERS or (isinstance(value, str) and re.fullmatch(texts, value, re.S))):
        raise SettingsError(f"has the {name} {str(value)[:80]!r}, which is neither a number nor a name")
