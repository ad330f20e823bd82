"""The parts of the stream, computed again by calling a layer's parts one after the other."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import analysed

from realformer_nmt.analysis.analysis_record import ShortcutTerms
from realformer_nmt.analysis.measures import stream


@pytest.mark.parametrize(
    ("scaling", "weight"), [("none", 1.0), ("deepnorm", 0.81 * (2**4 * 2) ** (1 / 16)), ("orthogonal", 1.0)]
)
def test_share_and_effective_weight_of_the_first_branch(scaling: str, weight: float, toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text, residual_scaling=scaling)
    encoder, batch = model.encoder, analysed.whole(text)
    padding = batch.source == text.pad
    with torch.no_grad():
        x = encoder.embed(batch.source, encoder.embed_positions(batch.source)).masked_fill(padding.unsqueeze(-1), 0)
        branch = encoder.layers[0].self_attn(x, x, padding[:, None, None]).output
        if scaling == "orthogonal":
            branch = branch - x * ((x * branch).sum(-1) / x.square().sum(-1)).unsqueeze(-1)
    shortcut, branch = (np.var(tensor[~padding].numpy()) for tensor in (weight * x, branch))
    figures = stream.measure(model, text)["encoder"]
    first = figures.sublayers["layers.0.self_attn"]
    assert first.w == pytest.approx(weight)
    assert first.share_of_branch == pytest.approx(branch / (shortcut + branch), rel=1e-4)
    assert first.effective_w == pytest.approx(np.sqrt(shortcut / branch), rel=1e-4)
    entered = [np.sqrt(np.mean(np.square(x[~padding].numpy())))]
    assert figures.norm[0] == pytest.approx(entered, rel=1e-4)


@pytest.mark.parametrize("scaling", ["layer_scale", "pro_res"])
def test_a_branch_counts_as_much_as_its_weight_lets_it_add(scaling: str, toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    plain, weighed = (
        analysed.model(text, residual_topology="pre", residual_scaling=each) for each in ("none", scaling)
    )
    weighed.load_state_dict(plain.state_dict(), strict=False)
    whole, part = (stream.measure(model, text)["encoder"].sublayers["layers.0.self_attn"] for model in (plain, weighed))
    weight = {"layer_scale": 0.1, "pro_res": 1 / 1000}[scaling]  # at the start, in the first layer
    assert part.effective_w == pytest.approx(whole.effective_w / weight, rel=1e-4)
    ratio = weight**2 / whole.effective_w**2  # of the variances of the weighed branch and the stream
    assert part.share_of_branch == pytest.approx(ratio / (1 + ratio), rel=1e-4)


def test_a_normalised_stream_has_norm_1_and_a_dual_one_grows(toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    post = stream.measure(analysed.model(text), text)
    assert post["decoder"].norm[1:] == [pytest.approx([1.0], abs=1e-3)] * 2
    dual = stream.measure(analysed.model(text, residual_topology="dual"), text)["decoder"].norm
    normalised, sums = zip(*dual, strict=True)
    assert normalised[1:] == pytest.approx([1.0, 1.0], abs=1e-3)
    assert sums[0] == pytest.approx(normalised[0])
    assert sums[0] < sums[1] < sums[2]


def test_a_branch_that_adds_nothing(toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    figures = stream.measure(analysed.idle(analysed.model(text, residual_topology="pre")), text)["decoder"]
    assert figures.norm[0] == figures.norm[1] == figures.norm[2]
    assert figures.sublayers["layers.1.ffn"] == ShortcutTerms(w=1.0, share_of_branch=0.0, effective_w=None)
    assert list(figures.sublayers)[:3] == ["layers.0.self_attn", "layers.0.encoder_attn", "layers.0.ffn"]


def test_a_stream_that_grows_has_no_sums_if_it_has_no_shortcuts(toy_corpus: Path) -> None:
    """Attention residuals keep all outputs apart: one, and two more per encoder layer."""
    text = analysed.some(toy_corpus)
    figures = stream.measure(analysed.model(text, residual_topology="attn_res"), text)["encoder"]
    assert [len(tensors) for tensors in figures.norm] == [1, 3, 5]
    assert figures.sublayers == {}
