from pathlib import Path

import pytest
import torch
from tiny_models import analysed
from tiny_models.tiny import SIZE

from realformer_nmt.analysis import depth
from realformer_nmt.model.models.admin_profile import is_pending


def test_a_fresh_model_has_the_checkpoints_options_its_own_weights_and_admins_profile(toy_corpus: Path) -> None:
    """The profile by its formula: after the first sub-layer, the root of the sum of both variances."""
    text = analysed.some(toy_corpus)
    options = SIZE | {"residual_scaling": "admin", "dropout": 0.5, "score_carry": "mean"}
    random = torch.get_rng_state()
    one, other = (depth.fresh(options, text) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), random)
    assert not one.training
    assert not any(is_pending(stack) for stack in (one.encoder, one.decoder))
    assert all(torch.equal(weight, other.state_dict()[name]) for name, weight in one.state_dict().items())
    batch = next(text.batches())
    padding = batch.source == text.pad
    with torch.no_grad():
        x = one.encoder.embed(batch.source, one.encoder.embed_positions(batch.source))
        x = x.masked_fill(padding.unsqueeze(-1), 0)
        branch = one.encoder.layers[0].self_attn(x, x, padding[:, None, None]).output
    expected = float((x.var(correction=0) + branch.var(correction=0)).sqrt())
    assert float(one.encoder.layers[0].ffn_shortcut.weight().mean()) == pytest.approx(expected, rel=1e-5)
