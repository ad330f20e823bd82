"""DLCL against its formulas, over three layers."""

import torch
from formulas.topologies import BRANCHES, LAYERS, SUBLAYERS, Pass, W, X, normalise
from tiny_models.tiny import build
from torch import Tensor

from realformer_nmt.model.topologies.layer_history import PostHistory, PreHistory


def weighted(done: Pass, outputs: list[Tensor]) -> Tensor:
    row = done.topology.weights[len(outputs) - 1]
    return sum(row[index] * output for index, output in enumerate(outputs))


def test_pre_ln_with_a_norm_of_each_layers_output() -> None:
    done = Pass(PreHistory)
    outputs = [X]
    x = weighted(done, outputs)
    for layer in range(LAYERS):
        for number in range(SUBLAYERS * layer, SUBLAYERS * (layer + 1)):
            x = W * x + BRANCHES[number](normalise(x, done.norms[number]))
        outputs.append(normalise(x, done.topology.history_norms[layer]))
        x = weighted(done, outputs)
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_post_ln_with_a_norm_of_the_sum() -> None:
    done = Pass(PostHistory)
    outputs = [X]
    x = weighted(done, outputs)
    for layer in range(LAYERS):
        for number in range(SUBLAYERS * layer, SUBLAYERS * (layer + 1)):
            x = normalise(W * x + BRANCHES[number](x), done.norms[number])
        outputs.append(x)
        x = normalise(weighted(done, outputs), done.topology.history_norms[layer])
    torch.testing.assert_close(done.output, x)


def test_each_row_starts_as_a_mean() -> None:
    weights = build(residual_topology="dlcl_pre", encoder_layers=3).encoder.topology.weights
    rows = [[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3] * 3 + [0], [1 / 4] * 4]
    torch.testing.assert_close(weights.detach(), torch.tensor(rows))
