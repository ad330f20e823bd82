"""Import of fairseq's multilingual checkpoints whose both sides begin with a language's tag: M2M-100's and NLLB's.

The folder holds the checkpoint, the file that was --fixed-dictionary, and the model of sentencepiece. Tags that the
dictionary lacks follow it in the order of --langs, as in fairseq's task translation_multi_simple_epoch.
"""

import re
from pathlib import Path

import torch

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.checkpoint_fields import Options, table
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.subwords.subword_methods import MODEL
from realformer_nmt.data_bins import vocabulary
from realformer_nmt.exporting.as_stock_transformer import TABLES
from realformer_nmt.exporting.importing.hub_folder import HubFolder
from realformer_nmt.exporting.importing.import_m2m100 import METHOD, tag, words
from realformer_nmt.exporting.importing.imported_run import ImportedModel
from realformer_nmt.model.config import SIDES

CHECKPOINT, DICTIONARY, SUBWORDS = "*.pt", "*dict*.txt", "*.model"
LANGUAGES = "langs.txt"  # in place of the checkpoint's list
SIZES = [f"{side}_{size}" for side in SIDES for size in ("layers", "attention_heads", "embed_dim", "ffn_embed_dim")]
TAKEN = (
    *(*SIZES, "max_source_positions", "max_target_positions", "dropout", "attention_dropout", "activation_dropout"),
    *("share_all_embeddings", "no_scale_embedding", "activation_fn"),
)
NEEDED = {
    **dict.fromkeys(("encoder_normalize_before", "decoder_normalize_before", "share_all_embeddings"), True),
    **{"encoder_langtok": "src", "decoder_langtok": True},
    **dict.fromkeys(("encoder_learned_pos", "decoder_learned_pos", "layernorm_embedding", "moe_freq"), False),
}


def read(folder: HubFolder) -> ImportedModel:
    path = only(folder.path, CHECKPOINT)
    state = checkpoint_fields.load(path)
    task = table(table(state.get("cfg")).get("task"))  # an older fairseq has one table for all
    options = {**task, **checkpoint_fields.options(state)}
    for name, value in NEEDED.items():
        if (options.get(name) or False) != value:
            raise UserError(f"{path} has {name} {options.get(name)}: models with {value} are imported")
    languages = read_languages(folder.path, options)
    weights = {name: tensor.to(torch.float32) for name, tensor in state["model"].items() if ".layer" in name}
    embeddings = state["model"][TABLES[0]].to(torch.float32)
    subwords = [*vocabulary.SYMBOLS, *vocabulary.read(only(folder.path, DICTIONARY))]
    added = [language for language in languages if tag(language) not in subwords]
    return ImportedModel(
        arch="pre_ln",
        options={name: value for name in TAKEN if isinstance(value := options.get(name), str | int | float)},
        weights={**weights, **dict.fromkeys(TABLES, embeddings)},
        words=(words(folder, subwords, dict(enumerate(added, len(subwords))), len(embeddings)),) * 2,
        subwords=METHOD,
        files={MODEL: only(folder.path, SUBWORDS).read_bytes()},
        languages=languages,
    )


def only(folder: Path, pattern: str) -> Path:
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        raise UserError(
            f"{folder} holds {len(files)} files {pattern}: give one {CHECKPOINT} of fairseq, one {DICTIONARY} and one "
            f"{SUBWORDS} of sentencepiece, or a folder of transformers with config.json"
        )
    return files[0]


def read_languages(folder: Path, options: Options) -> list[str]:
    """Return the names in langs.txt, or else in --langs of the checkpoint, or else the sorted ones of --lang-pairs."""
    file = folder / LANGUAGES
    names = listed(file.read_text(encoding="utf-8")) if file.is_file() else listed(options.get("langs"))
    names = names or sorted({name for pair in listed(options.get("lang_pairs")) for name in pair.split("-")})
    if not names:
        raise UserError(
            f"{folder}: its checkpoint lists no languages; write them to {LANGUAGES} in the order of --langs"
        )
    return names


def listed(names: object) -> list[str]:
    items = re.split(r"[,\s]+", names) if isinstance(names, str) else names if isinstance(names, list) else []
    return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))  # fairseq ignores repeats
