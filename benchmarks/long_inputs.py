"""Time and memory of an update on long texts, by pattern of attention: python benchmarks/long_inputs.py FILE.json

Without dropout of attention and without carried scores torch's own kernel does it all, also of full attention.
"""

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from measuring import Work, peak_bytes, seconds
from torch.nn.functional import cross_entropy

from realformer_nmt import plugin
from realformer_nmt.common.versions import versions
from realformer_nmt.model.meta_model import one_side_skeleton
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


def update(family: str, dropout: float, reach: int, pattern: str, length: int) -> Work:
    """Of one text, without a step of the optimiser, which is the same in all."""
    torch.manual_seed(1)
    options: dict[str, Any] = {**KINDS["bert"].options, **FAMILIES[family], **SIZE, **REACH, **HEADS}
    given = {"max_positions": LONGEST, "attention_dropout": dropout, "encoder_attention_pattern": pattern}
    given["encoder_relative_positions"] = reach
    model = one_side_skeleton("bert", Namespace(**{**options, **given}), WORDS).train()
    tokens = torch.randint(4, WORDS, (1, length))

    def work() -> None:
        model.zero_grad()
        cross_entropy(model(tokens)[0].flatten(0, 1), tokens.flatten()).backward()

    return work


def row(family: str, dropout: float, reach: int, pattern: str, length: int) -> dict[str, object]:
    device, tried = torch.device("cpu"), (family, dropout, reach, pattern, length)
    work = update(*tried)
    work()
    least = min(seconds(work, device) for _ in range(ROUNDS))
    found = {"seconds": least, "bytes": peak_bytes(lambda: update(*tried), device)}
    names = ("family", "attention_dropout", "relative_positions", "pattern", "length")
    return {**dict(zip(names, tried, strict=True)), **found}


def main(file: Path) -> None:
    plugin.register()
    torch.set_num_threads(1)
    rows = [row(*tried, pattern, length) for tried in TRIED for pattern in PATTERNS for length in LENGTHS]
    made_from = {"words": WORDS, "rounds": ROUNDS, **SIZE, **REACH}
    file.write_text(json.dumps({"made_from": made_from, "versions": versions(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
