"""Gradients before the first update, layer by layer, of random words.

python docs/results/scripts/gradients.py FILE.json
"""

import json
import statistics
import sys
from argparse import Namespace
from pathlib import Path

import torch
from torch import Tensor, nn

from realformer_nmt.common.stages.versions import versions
from realformer_nmt.model.models.meta_model import skeleton
from realformer_nmt.model.presets import FAMILIES

DEPTHS, SEEDS = (6, 18), (1, 2, 3)
TRIED = ("post_ln", "pre_ln", "admin", "realformer", "resi_dual")
WORDS, SENTENCES, LENGTH, END = 4000, 40, 24, 2
SIZE = {"embed_dim": 64, "ffn_embed_dim": 256, "attention_heads": 4}


def measured(family: str, depth: int, seed: int) -> dict[str, float]:
    """Norms of the gradient of fc1, the layers by their place."""
    torch.manual_seed(seed)
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in SIZE.items()}
    layers = {"encoder_layers": depth, "decoder_layers": depth, "dropout": 0.0, "share_all_embeddings": True}
    model = skeleton(Namespace(**FAMILIES[family], **sides, **layers), WORDS, WORDS).train()
    source, target = (torch.randint(4, WORDS, (SENTENCES, LENGTH)) for _ in range(2))
    previous = torch.cat([torch.full((SENTENCES, 1), END), target[:, :-1]], dim=1)
    logits = model(source, None, previous)[0]
    nn.functional.cross_entropy(logits.flatten(0, 1).float(), target.flatten()).backward()
    encoder, decoder = model.encoder.layers, model.decoder.layers
    places = {
        "last of the decoder": decoder[-1],
        "first of the decoder": decoder[0],
        "first of the encoder": encoder[0],
    }
    return {place: norm(layer.fc1.weight) for place, layer in places.items()}


def norm(weight: Tensor) -> float:
    if weight.grad is None:
        raise ValueError("no gradient reached this layer")
    return float(weight.grad.norm())


def row(family: str, depth: int) -> dict[str, object]:
    runs = [measured(family, depth, seed) for seed in SEEDS]
    means = {place: statistics.mean(run[place] for run in runs) for place in runs[0]}
    return {"family": family, "depth": depth, "gradient": means}


def main(file: Path) -> None:
    rows = [row(family, depth) for depth in DEPTHS for family in TRIED]
    made_from = {"seeds": SEEDS, "words": WORDS, "sentences": SENTENCES, "length": LENGTH, **SIZE}
    file.write_text(json.dumps({"made_from": made_from, "versions": versions(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
