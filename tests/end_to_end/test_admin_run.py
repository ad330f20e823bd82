"""The profile of ADMIN in a real run: logged once, and in the checkpoint; test_two_ranks.py has that of two ranks."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs.runs import Trained, at_update, load

PROFILE = re.compile(r"ADMIN profile of the first batch, (\w+): w = ([\d., ]+)")


def profile(checkpoint: Path, side: str) -> list[float]:
    weights = load(checkpoint)
    return [float(w0) for name, w0 in weights.items() if name.startswith(side) and name.endswith("_shortcut.w0")]


def test_profile_is_logged_once_and_kept(trained: Callable[[str], Trained]) -> None:
    run = trained("realformer")
    logged = dict(PROFILE.findall(run.killed))
    assert len(PROFILE.findall(run.killed)) == len(logged) == 2
    assert not PROFILE.findall(run.resumed)
    for side in ("encoder", "decoder"):
        first, *weights = map(float, logged[side].split(", "))
        assert first == 1
        for checkpoint in (at_update(run.folder / "checkpoints", 40), run.average):
            assert profile(checkpoint, side) == pytest.approx(weights, abs=5e-4)  # logged with three digits
    assert load(run.average)["decoder.layers.1.ffn_shortcut.delta"].abs().max() > 0.01
