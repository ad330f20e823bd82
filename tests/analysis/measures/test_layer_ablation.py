"""Models with a layer left out, against a model built without it that has the weights of the others."""

import math
import re
from pathlib import Path

import pytest
import torch
from tiny_models import analysed

from realformer_nmt.analysis.measures import layer_ablation
from realformer_nmt.analysis.text import loss


@pytest.mark.parametrize(
    "parts", [{}, {"residual_topology": "dual", "score_carry": "sum"}, {"score_carry": "mean"}], ids=str
)
def test_a_model_of_the_other_layers_loses_as_much(parts: dict[str, str], toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text, encoder_layers=3, **parts)
    smaller = analysed.model(text, encoder_layers=2, **parts)
    weights = model.state_dict()
    other_weights = {name: weight for name, weight in weights.items() if not name.startswith("encoder.layers.1.")}
    renamed = {name.replace("encoder.layers.2.", "encoder.layers.1."): weight for name, weight in other_weights.items()}
    smaller.load_state_dict(renamed)
    increases = layer_ablation.measure(model, text)
    assert increases["encoder"][1] == pytest.approx(loss(smaller, text) - loss(model, text), abs=1e-5)
    assert [len(losses) for losses in increases.values()] == [3, 2]
    assert model.state_dict().keys() == weights.keys()  # all layers are back


@pytest.mark.parametrize("topology", ["dense_former", "dlcl_pre", "dlcl_post"])
def test_sums_over_layers_keep_the_weights_of_those_that_stay(topology: str, toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text, encoder_layers=3, residual_topology=topology)
    smaller = analysed.model(text, encoder_layers=2, residual_topology=topology)
    sums = model.encoder.topology.weights
    with torch.no_grad():
        sums.copy_(torch.rand_like(sums))  # each pair of an output and a sum has a weight
    part = re.compile(r"encoder\.(topology\.history_norms|layers)\.([12])\.")
    weights = {
        part.sub(r"encoder.\1.1.", name): weight
        for name, weight in model.state_dict().items()
        if not (match := part.match(name)) or match[2] == "2"
    }
    rows, columns = ([index for index in range(size) if index != size - 2] for size in sums.shape)
    smaller.load_state_dict({**weights, "encoder.topology.weights": sums.detach()[rows][:, columns]})
    increase = layer_ablation.measure(model, text)["encoder"][1]
    assert increase == pytest.approx(loss(smaller, text) - loss(model, text), abs=1e-5)


@pytest.mark.parametrize("carry", ["first_values", "mean+first_values", "lazy", "mean+lazy"])
def test_what_the_first_layer_would_carry_may_be_left_out(carry: str, toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    increases = layer_ablation.measure(analysed.model(text, score_carry=carry), text)
    assert all(math.isfinite(loss) for losses in increases.values() for loss in losses)
    assert [len(losses) for losses in increases.values()] == [2, 2]


def test_an_only_layer_stays(toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    assert layer_ablation.measure(analysed.model(text, decoder_layers=1), text)["decoder"] == []
