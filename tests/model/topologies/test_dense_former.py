"""DenseFormer against its formula over three layers, and against Pre-LN before the first update."""

import torch
from formulas.topologies import BRANCHES, LAYERS, SUBLAYERS, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.topologies.dense_former import DenseFormer


def test_a_layer_reads_a_weighted_sum_of_all_outputs() -> None:
    done = Pass(DenseFormer)
    outputs, x = [X], X
    for layer in range(LAYERS):
        for number in range(SUBLAYERS * layer, SUBLAYERS * (layer + 1)):
            x = W * x + BRANCHES[number](normalise(x, done.norms[number]))
        outputs.append(x)
        row = done.topology.weights[layer]
        x = sum(row[index] * output for index, output in enumerate(outputs))
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_it_starts_as_pre_ln() -> None:
    depth = {"encoder_layers": 3, "decoder_layers": 3}
    dense, pre = build(residual_topology="dense_former", **depth), build(residual_topology="pre", **depth)
    dense.load_state_dict(pre.state_dict(), strict=False)
    torch.testing.assert_close(dense(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0])
    expected = torch.tensor([[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert torch.equal(dense.encoder.topology.weights.detach(), expected)
