from pathlib import Path

import pytest
import torch
from tiny_models import analysed

from realformer_nmt.analysis.measures import weight_perturbation


def test_every_matrix_of_a_layer_moves_by_the_same_share_and_nothing_else(toy_corpus: Path) -> None:
    model = analysed.model(analysed.some(toy_corpus))
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    after = dict(weight_perturbation.disturbed(model).named_parameters())
    moved = {name for name, parameter in after.items() if not torch.equal(parameter, before[name])}
    assert moved == {name for name, parameter in before.items() if ".layers." in name and parameter.dim() == 2}
    for name in moved:
        share = (after[name] - before[name]).norm() / before[name].norm()
        assert float(share) == pytest.approx(weight_perturbation.SIZE, rel=0.35)  # of 64 numbers or more
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())


def test_the_change_of_the_last_layer_is_that_of_the_models_output(toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    model, batch = analysed.model(text, residual_topology="dual"), analysed.whole(text)
    with torch.no_grad():
        before, after = (
            each(batch.source, None, batch.previous, features_only=True)[0][batch.previous != text.pad]
            for each in (model, weight_perturbation.disturbed(model))
        )
    change = float((after - before).square().sum() / before.square().sum()) / weight_perturbation.SIZE**2
    assert weight_perturbation.measure(model, text)["decoder"][-1] == pytest.approx(change, rel=1e-3)
