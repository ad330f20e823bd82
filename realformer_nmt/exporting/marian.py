"""Export to a folder that transformers opens with MarianMTModel and MarianTokenizer.

Marian computes positions by another formula than fairseq, and from another start. But it loads a table of positions
like any weight, so the file holds fairseq's.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.exporting import as_stock_transformer, model_card
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.model.config import SIDES
from realformer_nmt.model.stack import Side

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_accurate": "gelu_new", "tanh": "tanh", "swish": "swish"}
SPECIAL = {  # the first entries of fairseq's dictionaries; its decoder starts from the end symbol
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}
LONGEST = 201  # tokens that fairseq writes by default, end symbol included


def write(source: LoadedRun, folder: Path, _precision: str) -> None:
    form = as_stock_transformer.of(source)
    check_marian(source, form.options)
    weights = marian_weights(source, form)
    (folder / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    config = model_config(form.options, weights)
    _write(folder / "config.json", config)
    _write(folder / "generation_config.json", generation_config(weights))
    write_tokenizer(source, folder, config)
    (folder / "README.md").write_text(model_card.of(source), encoding="utf-8")


def check_marian(source: LoadedRun, options: Options) -> None:
    if source.corpus.tags[1]:
        raise UserError(
            f"{source.path} begins with a language's tag, which Marian's search does not force; use --to onnx"
        )
    allowed = {
        "encoder_normalize_before": (False,),
        "layernorm_embedding": (False,),
        "activation_fn": ACTIVATIONS,
        "decoder_embed_dim": (options["encoder_embed_dim"],),
    }
    for name, values in allowed.items():
        if options[name] not in values:
            raise UserError(
                f"{source.path} has {name} {options[name]}, and Marian's models have "
                f"{' or '.join(map(str, values))}; --to onnx takes every model"
            )


def marian_weights(source: LoadedRun, form: as_stock_transformer.StockTransformer) -> dict[str, Tensor]:
    """Return the weights by Marian's names; a shared weight is there only once."""
    tables = dict(zip(as_stock_transformer.TABLES, names_of_tables(form.options), strict=True))
    limit = min(source.model.max_positions())
    weights = {
        tables.get(name, f"model.{name}"): weight.contiguous()
        for name, weight in form.weights.items()
        if not name.endswith((".version", ".embed_positions.weight"))
    }
    for side in SIDES:
        table = form.weights.get(f"{side}.embed_positions.weight")
        weights[f"model.{side}.embed_positions.weight"] = positions(getattr(source.model, side), table, limit)
    words = form.weights[as_stock_transformer.TABLES[-1]].size(0)
    return {**weights, "final_logits_bias": torch.zeros(1, words)}


def names_of_tables(options: Options) -> tuple[str, str, str]:
    """Return Marian's names of the tables of source words, target words and output words."""
    if options["share_all_embeddings"]:
        return ("model.shared.weight",) * 3
    target = "model.decoder.embed_tokens.weight"
    output = target if options["share_decoder_input_output_embed"] else "lm_head.weight"
    return "model.encoder.embed_tokens.weight", target, output


def positions(side: Side, table: Tensor | None, limit: int) -> Tensor:
    """Return the positions of the words of a sequence: those of a table of fairseq's, or else the side's own."""
    rows = side.position_table() if table is None else table[side.padding_idx + 1 :]
    return torch.zeros(limit, side.embed_tokens.embedding_dim) if rows is None else rows[:limit].clone()


def model_config(options: Options, weights: Mapping[str, Tensor]) -> dict[str, object]:
    source, target, _ = (weights[name] for name in names_of_tables(options))
    sizes = ("layers", "attention_heads")
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "d_model": options["encoder_embed_dim"],
        **{f"{side}_{size}": options[f"{side}_{size}"] for side in SIDES for size in sizes},
        **{f"{side}_ffn_dim": options[f"{side}_ffn_embed_dim"] for side in SIDES},
        **{name: options[name] for name in ("dropout", "attention_dropout", "activation_dropout")},
        "activation_function": ACTIVATIONS[str(options["activation_fn"])],
        "scale_embedding": not options["no_scale_embedding"],
        "vocab_size": len(source),
        "decoder_vocab_size": len(target),
        "max_position_embeddings": len(weights["model.encoder.embed_positions.weight"]),
        "share_encoder_decoder_embeddings": options["share_all_embeddings"],
        "tie_word_embeddings": options["share_decoder_input_output_embed"],
        "is_encoder_decoder": True,
        "use_cache": True,
        "dtype": "float32",
        **SPECIAL,
    }


def generation_config(weights: Mapping[str, Tensor]) -> dict[str, object]:
    """Return fairseq-generate's defaults, which end a search when there are as many hypotheses as beams."""
    positions = len(weights["model.decoder.embed_positions.weight"])
    search = {"num_beams": 5, "early_stopping": True, "length_penalty": 1.0}
    lengths = {"min_new_tokens": 1, "max_new_tokens": min(LONGEST, positions)}
    return {**search, **lengths, "bad_words_ids": [[SPECIAL["pad_token_id"]]], **SPECIAL}


def write_tokenizer(source: LoadedRun, folder: Path, config: Mapping[str, object]) -> None:
    """Write the files of MarianTokenizer; without its model, copy dictionaries and subword files as they are."""
    if not source.tokenizer_models:
        source.copy_words(folder)
        return
    for name, file in zip(("source.spm", "target.spm"), source.tokenizer_models, strict=True):
        shutil.copyfile(file, folder / name)
    for name, file in zip(("vocab.json", "target_vocab.json"), source.corpus.dictionaries, strict=True):
        _write(folder / name, dictionary(file).indices)
    languages = dict(zip(("source_lang", "target_lang"), source.corpus.languages, strict=True))
    tokens = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"}
    settings = {"tokenizer_class": "MarianTokenizer", "model_max_length": config["max_position_embeddings"]}
    settings |= {"separate_vocabs": True, "clean_up_tokenization_spaces": False}
    _write(folder / "tokenizer_config.json", {**settings, **tokens, **languages})


def _write(file: Path, content: Mapping[str, object]) -> None:
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
