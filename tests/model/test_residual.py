"""Each topology weighs its stream by the shortcuts; their formulas are in test_authors_code.py."""

import pytest
from formulas.topologies import BRANCHES, Pass

from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.topologies.shortcuts import Constant


@pytest.mark.parametrize("name", [name for name, kind in TOPOLOGIES.items() if kind.has_shortcuts])
def test_the_stream_of_each_sub_layer_passes_its_shortcut(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, forward = [], Constant.forward
    monkeypatch.setattr(Constant, "forward", lambda *args: calls.append(1) or forward(*args))
    passed = Pass(TOPOLOGIES[name])
    assert len(calls) == len(BRANCHES) * (2 if name == "rk2" else 1)
    monkeypatch.setattr(Constant, "forward", lambda _shortcut, x, branch: x + branch)
    assert (passed.run() - passed.output).abs().max() > 0.01  # without the weight
