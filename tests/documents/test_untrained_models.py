"""Models before their first update, of two and three layers."""

import numpy as np
import pytest
import torch
import untrained_models
from torch.nn.functional import cross_entropy
from untrained_models import CLAIMS, XIONG, UntrainedModel

from realformer_nmt.analysis import depth
from realformer_nmt.analysis.claims import LIU, XIE
from realformer_nmt.model.presets import FAMILIES

DEPTHS = (6, 12, 24)


def test_the_gradient_of_fc2_in_the_last_and_the_first_layer() -> None:
    """Autograd gives the same norms for a model that is built again from the same seed."""
    figures = untrained_models.measure_seed("pre_ln", 2, seed=5)
    text = untrained_models.random_text(5)
    sides = {
        f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in untrained_models.SIZE.items()
    }
    options = FAMILIES["pre_ln"] | sides | {"encoder_layers": 2, "decoder_layers": 2, "share_all_embeddings": True}
    model = depth.fresh(options, text, 5)
    (batch,) = text.batches()
    loss = cross_entropy(model(batch.source, None, batch.previous)[0].flatten(0, 1), batch.target.flatten())
    first, last = (
        torch.autograd.grad(loss, list(layer.fc2.parameters()), retain_graph=True) for layer in model.decoder.layers
    )
    for name, gradients in (("first", first), ("last", last)):
        norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        assert figures[name] == pytest.approx(float(norm), rel=1e-4)


def test_a_row_is_the_mean_over_seeds() -> None:
    runs = [untrained_models.measure_seed("post_ln", 3, seed) for seed in (1, 2)]
    row = untrained_models.row("post_ln", 3, (1, 2))
    assert runs[0] != runs[1]
    for figure in untrained_models.FIGURES:
        assert getattr(row, figure) == pytest.approx((runs[0][figure] + runs[1][figure]) / 2)
    assert (row.family, row.layers) == ("post_ln", 3)


def start(**powers: float) -> list[UntrainedModel]:
    """Build models by powers, post_ln_last=-0.5 and so on; what is not named does not depend on depth."""
    families = ("post_ln", "pre_ln", "admin", "resi_dual")
    return [
        UntrainedModel(
            family=family,
            layers=layers,
            **{figure: 3 * layers ** powers.get(f"{family}_{figure}", 0.0) for figure in ("last", "first", "change")},
        )
        for family in families
        for layers in DEPTHS
    ]


def answers(paper: str, rows: list[UntrainedModel]) -> list[bool]:
    return [answer.agrees for claim in CLAIMS if claim.paper == paper for answer in claim.check(rows)]


def test_figures_as_predicted_agree_and_of_another_shape_do_not() -> None:
    rows = start(post_ln_first=-1.0, pre_ln_last=-0.5, pre_ln_first=-0.5, post_ln_change=1.0, pre_ln_change=0.3)
    assert [all(answers(paper, rows)) for paper in (XIONG, XIE, LIU)] == [True, True, True]
    rows = start(post_ln_last=-0.5, pre_ln_last=0.0, pre_ln_first=1.0, post_ln_change=0.4, resi_dual_first=-1.0)
    assert answers(XIONG, rows) == [False, False, False, False]
    assert answers(XIE, rows) == [False, False]
    assert answers(LIU, rows) == [False, True, True]


def test_a_slope_is_the_least_squares_line_through_the_logarithms() -> None:
    rows = [
        UntrainedModel(family="a", layers=layers, last=value, first=1, change=1)
        for layers, value in zip(DEPTHS, (3, 1, 2), strict=True)
    ]
    expected = np.polyfit(np.log(DEPTHS), np.log([3, 1, 2]), 1)[0]
    assert untrained_models.slope(rows, "last") == pytest.approx(expected)
