"""The loss scale of --amp; what a step does is in test_patches.py, beside stock fairseq."""

import logging
from types import SimpleNamespace

import pytest
import torch

from realformer_nmt.fairseq_patches.training.amp import SCALE, load_scale


@pytest.mark.parametrize(
    ("enabled", "state", "warned"), [(True, {}, True), (True, {SCALE: {}}, True), (False, {}, False)]
)
def test_a_state_of_gradients_divided_twice_is_named(
    enabled: bool, state: dict[str, object], warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Stock fairseq saves no scale; without a scale, as on a CPU, no gradient is divided."""
    optimizer = SimpleNamespace(scaler=torch.amp.GradScaler("cpu", enabled=enabled))
    with caplog.at_level(logging.WARNING):
        load_scale(lambda *_: None, optimizer, state)
    assert ("divided twice" in caplog.text) == warned


def test_a_resumed_scale_is_named_as_nothing(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = SimpleNamespace(scaler=torch.amp.GradScaler("cpu"))
    load_scale(lambda *_: None, optimizer, {SCALE: {"scale": 8192.0}})
    assert (optimizer.scaler.get_scale(), caplog.text) == (8192.0, "")
