"""Models before their first update, of two and three layers."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from realformer_nmt.analysis import at_initialisation, depth
from realformer_nmt.model.presets import FAMILIES


def test_the_gradient_of_fc2_in_the_last_and_the_first_layer() -> None:
    """Autograd gives the same norms for a model that is built again from the same seed."""
    figures = at_initialisation.measure_seed("pre_ln", 2, seed=5)
    text = at_initialisation.random_text(5)
    sides = {
        f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in at_initialisation.SIZE.items()
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
    runs = [at_initialisation.measure_seed("post_ln", 3, seed) for seed in (1, 2)]
    row = at_initialisation.row("post_ln", 3, (1, 2))
    assert runs[0] != runs[1]
    for figure in at_initialisation.FIGURES:
        assert getattr(row, figure) == pytest.approx((runs[0][figure] + runs[1][figure]) / 2)
    assert (row.family, row.layers) == ("post_ln", 3)
