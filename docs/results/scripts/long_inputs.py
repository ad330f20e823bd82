"""Attention over long texts, by pattern: what it costs, and what it can recall.

export PYTHONPATH=benchmarks
python docs/results/scripts/long_inputs.py long_inputs.json        # time and memory of an update
python docs/results/scripts/long_inputs.py recall.json --recall    # associative recall over 4,096 words

Without dropout of attention and without carried scores torch's own kernel does it all, also of full attention.

A text of the recall begins with questions, one a key. Far from them, anywhere, stand as many entries, each a word for a
key and its value in this text; all else is noise. Where a question stands, the value of its key is to be predicted.
"""

import argparse
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from fairseq.models import BaseFairseqModel
from timing import Work, peak_bytes, seconds
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt import plugin
from realformer_nmt.common.stages.versions import versions
from realformer_nmt.model.models.meta_model import one_side_skeleton
from realformer_nmt.model.presets import FAMILIES, KINDS

LENGTHS, LONGEST, ROUNDS, WORDS = (1024, 2048, 4096), 4096, 3, 1000
PATTERNS = ("full", "local", "global_local")
REACH_OF_POSITIONS = 32
TRIED = (  # family, dropout of attention, reach of relative positions
    ("post_ln", 0.1, 0),
    ("realformer_post_ln", 0.1, 0),
    ("realformer_post_ln", 0.1, REACH_OF_POSITIONS),
    ("post_ln", 0.0, 0),
    ("post_ln", 0.0, REACH_OF_POSITIONS),
)
SIZE = {"encoder_layers": 2, "encoder_embed_dim": 128, "encoder_ffn_embed_dim": 512, "encoder_attention_heads": 4}
REACH = {"encoder_window": 128, "encoder_global_tokens": 16}
HEADS = {"pooler_activation_fn": "tanh", "pooler_dropout": 0.0, "untie_weights_roberta": False}

KEYS, VALUES, NOISE, LAYERS, WINDOW = 4, 4, 8, 2, 16
ANSWER = 4 + KEYS  # fairseq's own four words, then the questions, the answers, the entries, the noise
ENTRY = ANSWER + VALUES
OTHER = ENTRY + KEYS * VALUES
VOCABULARY = OTHER + NOISE
UPDATES = {64: 200, 256: 50, 1024: 40, 2048: 30, 4096: 30}  # of texts of each length
TOKENS, JUDGED = 8192, 100
RECALLED = [(pattern, family) for pattern in ("local", "global_local") for family in ("post_ln", "realformer_post_ln")]
SMALL = {"embed_dim": 32, "ffn_embed_dim": 64, "attention_heads": 2, "layers": LAYERS}
PLAIN = {"dropout": 0.0, "attention_dropout": 0.0, "no_token_positional_embeddings": True, "max_positions": LONGEST}


def update(family: str, dropout: float, reach: int, pattern: str, length: int) -> Work:
    """Run both passes on one text; the optimiser's step is the same for all and is left out."""
    torch.manual_seed(1)
    options: dict[str, Any] = {**KINDS["bert"].options, **FAMILIES[family], **SIZE, **REACH, **HEADS}
    settings = {"max_positions": LONGEST, "attention_dropout": dropout, "encoder_attention_pattern": pattern}
    settings["encoder_relative_positions"] = reach
    model = one_side_skeleton("bert", Namespace(**{**options, **settings}), WORDS).train()
    tokens = torch.randint(4, WORDS, (1, length))

    def work() -> None:
        model.zero_grad()
        cross_entropy(model(tokens)[0].flatten(0, 1), tokens.flatten()).backward()

    return work


def cost_of(family: str, dropout: float, reach: int, pattern: str, length: int) -> dict[str, object]:
    device, tried = torch.device("cpu"), (family, dropout, reach, pattern, length)
    work = update(*tried)
    work()
    least = min(seconds(work, device) for _ in range(ROUNDS))
    figures = {"seconds": least, "bytes": peak_bytes(lambda: update(*tried), device)}
    names = ("family", "attention_dropout", "relative_positions", "pattern", "length")
    return {**dict(zip(names, tried, strict=True)), **figures}


def texts(number: int, length: int) -> tuple[Tensor, Tensor]:
    """Return texts and their answers; the windows of all layers together do not reach from a question to an entry."""
    begin = KEYS + LAYERS * WINDOW
    order, places = torch.rand(number, KEYS).argsort(1), torch.rand(number, length - begin).argsort(1)[:, :KEYS]
    values = torch.randint(VALUES, (number, KEYS))  # of each key
    tokens = torch.randint(OTHER, VOCABULARY, (number, length))
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
        correct = torch.cat([answers(model, tokens).argmax(-1) == values for tokens, values in pairs])
    return float(correct.double().mean())


def recall_of(pattern: str, family: str) -> dict[str, object]:
    torch.manual_seed(1)
    shape = {f"encoder_{name}": size for name, size in SMALL.items()}
    settings = {"encoder_attention_pattern": pattern, "encoder_window": WINDOW, "encoder_global_tokens": KEYS}
    options: dict[str, Any] = {**KINDS["bert"].options, **FAMILIES[family], **shape, **HEADS, **PLAIN, **settings}
    model = one_side_skeleton("bert", Namespace(**options), VOCABULARY)
    spent = seconds(lambda: train(model.train()), torch.device("cpu"))
    return {"pattern": pattern, "family": family, "right": right(model.eval()), "seconds of training": spent}


def costs() -> dict[str, object]:
    rows = [cost_of(*tried, pattern, length) for tried in TRIED for pattern in PATTERNS for length in LENGTHS]
    return {"made_from": {"words": WORDS, "rounds": ROUNDS, **SIZE, **REACH}, "versions": versions(), "rows": rows}


def recall() -> dict[str, object]:
    made_from = {"keys": KEYS, "values": VALUES, "length": LONGEST, "window": WINDOW, "updates": UPDATES, **SMALL}
    return {"made_from": made_from, "versions": versions(), "rows": [recall_of(*tried) for tried in RECALLED]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the record")
    parser.add_argument("--recall", action="store_true", help="what is recalled, instead of what an update costs")
    args = parser.parse_args()
    plugin.register()
    torch.set_num_threads(1)
    args.file.write_text(json.dumps(recall() if args.recall else costs(), indent=1) + "\n")


if __name__ == "__main__":
    main()
