"""Associative recall over 4,096 words, with a window and with global tokens: python benchmarks/recall.py FILE.json

A text begins with questions, one a key. Far from them, anywhere, stand as many entries, each a word for a key and its
value in this text; all else is noise. Where a question stands, the value of its key is to be predicted.
"""

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from fairseq.models import BaseFairseqModel
from measuring import seconds
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt import plugin
from realformer_nmt.common.versions import versions
from realformer_nmt.model.meta_model import one_side_skeleton
from realformer_nmt.model.presets import FAMILIES, KINDS

KEYS, VALUES, NOISE, LAYERS, WINDOW = 4, 4, 8, 2, 16
ANSWER = 4 + KEYS  # fairseq's own four words, then the questions, the answers, the entries, the noise
ENTRY = ANSWER + VALUES
OTHER = ENTRY + KEYS * VALUES
WORDS = OTHER + NOISE
UPDATES = {64: 200, 256: 50, 1024: 40, 2048: 30, 4096: 30}  # of texts of each length
LONGEST, TOKENS, JUDGED = 4096, 8192, 100
TRIED = [(pattern, family) for pattern in ("local", "global_local") for family in ("post_ln", "realformer_post_ln")]
SIZE = {"embed_dim": 32, "ffn_embed_dim": 64, "attention_heads": 2, "layers": LAYERS}
HEADS = {"pooler_activation_fn": "tanh", "pooler_dropout": 0.0, "untie_weights_roberta": False}
PLAIN = {"dropout": 0.0, "attention_dropout": 0.0, "no_token_positional_embeddings": True, "max_positions": LONGEST}


def texts(number: int, length: int) -> tuple[Tensor, Tensor]:
    """And their answers. No entry is within reach of a question by all layers' windows."""
    begin = KEYS + LAYERS * WINDOW
    order, places = torch.rand(number, KEYS).argsort(1), torch.rand(number, length - begin).argsort(1)[:, :KEYS]
    values = torch.randint(VALUES, (number, KEYS))  # of each key
    tokens = torch.randint(OTHER, WORDS, (number, length))
    tokens[:, :KEYS] = 4 + order
    tokens.scatter_(1, begin + places, ENTRY + VALUES * torch.arange(KEYS) + values)
    return tokens, values.gather(1, order)


def answers(model: BaseFairseqModel, tokens: Tensor) -> Tensor:
    features, _ = model(tokens, features_only=True)
    logits: Tensor = model.encoder.output_layer(features[:, :KEYS])[..., ANSWER:ENTRY]
    return logits  # B x questions x values


def train(model: BaseFairseqModel) -> None:
    """Adam anew at each length: after updates near 0 its first large ones would be too large."""
    for length, updates in UPDATES.items():
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3 if length == min(UPDATES) else 1e-3)
        for _ in range(updates):
            tokens, values = texts(min(32, TOKENS // length), length)
            optimizer.zero_grad()
            cross_entropy(answers(model, tokens).flatten(0, 1), values.flatten()).backward()
            optimizer.step()


def right(model: BaseFairseqModel) -> float:
    """The share of questions about new texts of the full length."""
    with torch.no_grad():
        pairs = [texts(1, LONGEST) for _ in range(JUDGED)]
        found = torch.cat([answers(model, tokens).argmax(-1) == values for tokens, values in pairs])
    return float(found.double().mean())


def row(pattern: str, family: str) -> dict[str, object]:
    torch.manual_seed(1)
    shape = {f"encoder_{name}": size for name, size in SIZE.items()}
    chosen = {"encoder_attention_pattern": pattern, "encoder_window": WINDOW, "encoder_global_tokens": KEYS}
    options: dict[str, Any] = {**KINDS["bert"].options, **FAMILIES[family], **shape, **HEADS, **PLAIN, **chosen}
    model = one_side_skeleton("bert", Namespace(**options), WORDS)
    spent = seconds(lambda: train(model.train()), torch.device("cpu"))
    return {"pattern": pattern, "family": family, "right": right(model.eval()), "seconds of training": spent}


def main(file: Path) -> None:
    plugin.register()
    torch.set_num_threads(1)
    made_from = {"keys": KEYS, "values": VALUES, "length": LONGEST, "window": WINDOW, "updates": UPDATES, **SIZE}
    record = {"made_from": made_from, "versions": versions(), "rows": [row(*tried) for tried in TRIED]}
    file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
