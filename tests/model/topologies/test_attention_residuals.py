"""Attention residuals against their formula over three layers; test_combinations.py has what they refuse."""

import pytest
import torch
from formulas.topologies import BRANCHES, Pass, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.checkpoints.files.checkpoint_fields import choices
from realformer_nmt.model.part_names import as_recorded
from realformer_nmt.model.topologies.attention_residuals import BlockAttentionResiduals, DepthAttention


def attended(weights: DepthAttention, outputs: list[Tensor]) -> Tensor:
    keys = [v / (v.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weights.key_gain for v in outputs]
    shares = [torch.exp(key @ weights.query)[..., None] for key in keys]
    total = sum(share * v for share, v in zip(shares, outputs, strict=True)) / sum(shares)
    return normalise(total, weights.input_norm)


@pytest.mark.parametrize(("blocks", "size"), [(1, 3), (2, 2), (3, 1), (8, 1)])
def test_a_block_begins_behind_what_its_first_sub_layer_reads(blocks: int, size: int) -> None:
    """The sum so far joins the finished blocks once attention has read both: the order of the deployed model."""
    done = Pass(BlockAttentionResiduals, blocks)
    finished: list[Tensor] = []
    partial = X
    for number, (f, norm) in enumerate(zip(BRANCHES, done.norms, strict=True)):
        branch = f(attended(norm, [*finished, partial]) if finished else normalise(X, norm.input_norm))
        begins = number % (2 * size) == 0
        finished = [*finished, partial] if begins else finished
        partial = branch if begins else partial + branch
    torch.testing.assert_close(done.output, attended(done.final, [*finished, partial]), rtol=1e-4, atol=1e-5)


def test_the_number_of_blocks_is_of_the_model_and_recorded_unless_it_is_the_default() -> None:
    model = build(residual_topology="block_attn_res", residual_blocks=1, encoder_layers=3)
    assert len(model.encoder.topology.write((X, X), X, None, None, model.encoder.layers[2].place(0))) == 2
    four, eight = ({"heads": "plain", "residual_blocks": number} for number in (4, 8))
    assert (as_recorded(four), as_recorded(eight)) == ({"residual_blocks": 4}, {})
    assert choices({"cfg": {"model": four}}) == four


def test_it_starts_as_a_mean() -> None:
    """Pre-LN's sum is a mean, too, for a norm that follows it: the first logits are the same."""
    kimi, pre = build(residual_topology="attn_res"), build(residual_topology="pre")
    weights = pre.state_dict()
    named = {name: weights.get(name.replace(".input_norm", ""), value) for name, value in kimi.state_dict().items()}
    kimi.load_state_dict(named)
    torch.testing.assert_close(kimi(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0], rtol=1e-3, atol=1e-3)
