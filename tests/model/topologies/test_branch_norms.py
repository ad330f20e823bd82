"""Topologies with norms around or within the branch, or with none, against their formulas."""

import torch
from formulas.topologies import BRANCHES, Pass, W, X, normalise
from tiny_models.tiny import build

from realformer_nmt.model.topologies.branch_norms import Keel


def test_keel() -> None:
    done, x = Pass(Keel), X
    for f, norm in zip(BRANCHES, done.norms, strict=True):
        x = normalise(W * x + f(normalise(x, norm.before)), norm.after)
    torch.testing.assert_close(done.output, x)


def test_sub_ln_leaves_encoder_decoder_attention_as_it_is() -> None:
    names = [name for name, _ in build(residual_topology="sub_ln").decoder.layers[0].named_parameters()]
    assert {"self_attn.head_output.norm.weight", "hidden_norm.bias"} < set(names)
    assert not [name for name in names if name.startswith("encoder_attn.head_output")]
