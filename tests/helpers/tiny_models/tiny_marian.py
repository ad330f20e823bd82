"""Folders of Marian models that nobody trained, as `save_pretrained` of transformers leaves them."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from torch import nn
from transformers import MarianConfig, MarianMTModel

SIZES: dict[str, Any] = {
    **{"d_model": 32, "max_position_embeddings": 60, "scale_embedding": True, "activation_function": "swish"},
    **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in (("layers", 2), ("ffn_dim", 64))},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "eos_token_id": 0, "tie_word_embeddings": True},
}
TAGS = (">>fra<<", ">>deu<<")


def model(words: int, bias_of_end: float = 6.0, **options: Any) -> MarianMTModel:
    """Return a model whose every weight and bias is at random, with padding last; each word depends on those before."""
    special = {"pad_token_id": words - 1, "decoder_start_token_id": words - 1}
    torch.manual_seed(3)
    built = MarianMTModel(MarianConfig(vocab_size=words, **{**SIZES, **special, **options})).eval()
    with torch.no_grad():
        for name, weight in built.named_parameters():
            if "embed_positions" not in name and weight.dim() > 1:
                nn.init.normal_(weight, std=3 * weight.size(1) ** -0.5)
            elif "embed_positions" not in name:
                weight.add_(torch.randn_like(weight), alpha=0.3)
        for table in (built.model.encoder.embed_tokens, built.model.decoder.embed_tokens, built.lm_head):
            nn.init.normal_(table.weight, std=0.3)
        for table in (built.model.encoder.embed_tokens, built.model.decoder.embed_tokens):
            table.weight[words - 1] = 0
        built.model.decoder.layers[-1].final_layer_norm.weight.normal_()
        built.final_logits_bias.normal_(-8)  # <pad>, which Marian does not have, must not be seen beside these
        built.final_logits_bias[0, [0, -1]] = torch.tensor([bias_of_end - 8, 0.0])
    return built


def write_words(folder: Path, tags: Sequence[str] = (), separate: bool = False) -> list[list[str]]:
    """Write a sentencepiece model and the vocabulary of each side, or one of both; return them, padding last."""
    models = [learn(folder / f"{side}.spm", seed) for seed, side in enumerate(("source", "target"))]
    both = [list(dict.fromkeys((*models[0], *models[1])))] * 2
    words = [["</s>", "<unk>", *side, *tags, "<pad>"] for side in (models if separate else both)]
    for name, side in zip(("vocab.json", "target_vocab.json")[: 1 + separate], words, strict=False):
        numbers = {word: number for number, word in enumerate(side)}
        (folder / name).write_text(json.dumps(dict(sorted(numbers.items()))), encoding="utf-8")
    languages = {"source_lang": "en", "target_lang": "de", "separate_vocabs": separate}
    (folder / "tokenizer_config.json").write_text(json.dumps(languages))
    (folder / "README.md").write_text("---\nlanguage:\n- en\nlicense: cc-by-4.0\n---\nA model.\n")
    return words


def learn(file: Path, seed: int) -> list[str]:
    """Learn a sentencepiece model from 100 lines, and return its subwords without <unk> and </s>."""
    learnt = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines(100, seed)),
        model_writer=learnt,
        **{"model_type": "unigram", "vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2},
        **{"unk_id": 1, "eos_id": 0, "bos_id": -1, "pad_id": -1},
    )
    file.write_bytes(learnt.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=learnt.getvalue())
    return [processor.id_to_piece(number) for number in range(2, processor.vocab_size())]


def lines(number: int, seed: int) -> list[str]:
    """Sentences of random syllables; those of different seeds have different letters."""
    chance = torch.Generator().manual_seed(seed)
    letters = "abdegiklmnoprstu" if seed % 2 == 0 else "acfhjnoqrsuvwxyz"
    sentences = []
    for _ in range(number):
        sizes = torch.randint(1, 6, (int(torch.randint(1, 8, (), generator=chance)),), generator=chance)
        drawn = [torch.randint(0, 16, (int(size),), generator=chance).tolist() for size in sizes]
        sentences.append(" ".join("".join(letters[index] for index in word) for word in drawn))
    return sentences
