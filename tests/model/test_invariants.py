"""Scores are carried alike at any depth."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from realformer_nmt.model.attention.carry import CARRIES, Carried


@settings(max_examples=30, deadline=None)
@given(depth=st.integers(1, 200), seed=st.integers(0, 99))
def test_carried_scores_are_the_sum_or_the_mean_of_all_below_at_any_depth(depth: int, seed: int) -> None:
    layers = torch.randn(depth, 1, 2, 3, 3, generator=torch.Generator().manual_seed(seed))
    expected = {"none": layers[-1], "sum": layers.sum(0), "mean": layers.mean(0)}
    scored = layers[::2]  # of lazy carries
    expected |= {"first_values": expected["none"], "mean+first_values": expected["mean"]}
    expected |= {"lazy": scored[-1], "mean+lazy": scored.mean(0)}
    assert CARRIES.keys() == expected.keys()
    for name, carry in CARRIES.items():
        carried: Carried = ()
        for number, scores in enumerate(layers, 1):
            logits, carried = carry.scores(scores, carried, number)
        torch.testing.assert_close(logits, expected[name], rtol=1e-4, atol=1e-4)
