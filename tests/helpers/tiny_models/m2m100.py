"""A tiny M2M-100 of transformers whose weights are random, and which ends its translations."""

import argparse
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

SYMBOLS = ["<s>", "<pad>", "</s>", "<unk>"]
SIZES = {
    f"{side}_{size}": n for side in ("encoder", "decoder") for size, n in (("attention_heads", 4), ("ffn_dim", 64))
}
FILLERS = 8
ENDING = 3.5  # of the bias of the last norm towards the end symbol


def lines(number: int) -> list[str]:
    """Lines of one word to nine, of 200 words."""
    chance = np.random.default_rng(5)
    words = ["".join(chance.choice(list("abcdefgh"), chance.integers(1, 7))) for _ in range(200)]
    return [" ".join(chance.choice(words, chance.integers(1, 10))) for _ in range(number)]


def subwords(folder: Path) -> list[str]:
    """Write sentencepiece.bpe.model, and return its subwords without its three symbols."""
    model = io.BytesIO()
    options = {"vocab_size": 120, "model_type": "bpe", "unk_id": 0, "bos_id": 1, "eos_id": 2, "minloglevel": 2}
    SentencePieceTrainer.train(sentence_iterator=iter(lines(400)), model_writer=model, **options)
    (folder / "sentencepiece.bpe.model").write_bytes(model.getvalue())
    processor = SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(number) for number in range(3, processor.vocab_size())]


def write(folder: Path, deviation: float = 0.6) -> M2M100ForConditionalGeneration:
    folder.mkdir()
    vocabulary = [*SYMBOLS, *subwords(folder)]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(vocabulary)}))
    tokenizer = M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model"))
    tokenizer.save_pretrained(folder)
    rows = len(vocabulary) + len(tokenizer.lang_code_to_id) + FILLERS
    torch.manual_seed(1)
    config = M2M100Config(vocab_size=rows, d_model=32, encoder_layers=2, decoder_layers=3, init_std=deviation, **SIZES)
    model = M2M100ForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_("norm.weight" in name, 0.1)
        end = model.model.shared.weight[2]
        model.model.decoder.layer_norm.bias += ENDING * end / end.norm()
    model.save_pretrained(folder)
    return model


def fairseq_state(model: M2M100ForConditionalGeneration, languages: list[str], form: str) -> dict[str, Any]:
    """The checkpoint that fairseq would have of the same model: with `args`, or with `cfg`."""
    weights = {name.removeprefix("model."): weight for name, weight in model.state_dict().items()}
    table = weights.pop("shared.weight")
    weights.pop("lm_head.weight", None)
    weights |= dict.fromkeys((f"{name}.weight" for name in ("encoder.embed_tokens", "decoder.embed_tokens")), table)
    weights |= {"decoder.output_projection.weight": table, "encoder.embed_positions._float_tensor": torch.zeros(1)}
    weights |= {f"{side}.version": torch.tensor([3.0]) for side in ("encoder", "decoder")}
    config = model.config
    options = {"arch": "transformer_wmt_en_de_big", "share_all_embeddings": True, "encoder_layerdrop": 0.05}
    for side in ("encoder", "decoder"):
        options |= {f"{side}_{size}": getattr(config, f"{side}_{size}") for size in ("layers", "attention_heads")}
        options |= {f"{side}_embed_dim": 32, f"{side}_ffn_embed_dim": 64, f"{side}_normalize_before": True}
    task = {"lang_pairs": ["en-fr", "fr-en"], "encoder_langtok": "src", "decoder_langtok": True}
    task |= {"langs": languages, "langtoks": {"main": ("src", "tgt")}, "fixed_dictionary": "/a/path/of/another/machine"}
    name = "translation_multi_simple_epoch"
    tree = {"task": {"_name": name, **task}, "model": argparse.Namespace(_name=options["arch"], **options)}
    settings = {"args": argparse.Namespace(task=name, **task, **options)} if form == "args" else {"cfg": tree}
    return {"args": None, **settings, "model": weights, "extra_state": {}, "optimizer_history": []}
