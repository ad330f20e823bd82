"""Families that no representative trains by fairseq's command learn in this process: `make reliability` runs it."""

import math

import pytest
import torch
from tiny_models.representatives import OTHERS
from tiny_models.tiny import EOS, build
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.model.presets import FAMILIES

LETTERS, LENGTH, UPDATES, WARMUP = 5, 3, 100, 20
SHAPE = {
    f"{side}_{name}": number
    for side in ("encoder", "decoder")
    for name, number in {"embed_dim": 32, "ffn_embed_dim": 64, "attention_heads": 4}.items()
}


def reversals(sentences: int, chance: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return sources, the same backwards as the decoder's input, and its output: B x T each."""
    letters = torch.randint(4, 4 + LETTERS, (sentences, LENGTH), generator=chance)
    ends = torch.full((sentences, 1), EOS)
    backwards = letters.flip(1)
    return torch.cat([letters, ends], 1), torch.cat([ends, backwards], 1), torch.cat([backwards, ends], 1)


@pytest.mark.product
@pytest.mark.parametrize("family", OTHERS)
def test_a_family_learns_to_reverse(family: str) -> None:
    """Who sees no source can bring the loss of a letter to that of a guess, log 5, and no lower."""
    chance = torch.Generator().manual_seed(1)
    model = build(**SHAPE, **FAMILIES[family], share_all_embeddings=True, no_scale_embedding=True).train()
    optimiser = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    for update in range(UPDATES):
        model.set_num_updates(update)
        source, previous, target = reversals(64, chance)
        for group in optimiser.param_groups:
            group["lr"] = 5e-3 * min(1, (update + 1) / WARMUP)
        logits, _ = model(source, None, previous)
        loss = cross_entropy(logits[:, :-1].flatten(0, 1), target[:, :-1].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.8 * math.log(LETTERS)
