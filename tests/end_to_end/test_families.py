"""Families through their lives: train, be killed, resume, average, generate; the suite takes those of KEPT."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu
from programs.processes import said
from programs.reports import parse, updates
from programs.runs import SENTENCES, UPDATES, Compose, Trained, at_update, load

from realformer_nmt.model.presets import FAMILIES

# A profile, a stream of two, the number of updates, tables of scores
KEPT = ("realformer", "resi_dual", "pro_res", "synthesizer_random_vanilla")
OTHERS = (pytest.param(family, marks=pytest.mark.product) for family in FAMILIES if family not in KEPT)
PROFILE = re.compile(r"ADMIN profile of the first batch, (\w+): w = ([\d., ]+)")


@pytest.mark.parametrize("family", [*KEPT, *OTHERS])
def test_family_learns_to_reverse(
    family: str, trained: Callable[[str], Trained], generate: Compose, text: Path
) -> None:
    """Two trainings and a decoding of 8 to 12 seconds each: nothing shorter shows a kill that fairseq recovers from."""
    run = trained(family)
    assert updates(run.killed)[-1] < 80
    assert updates(run.resumed) == list(range(50, UPDATES + 1, 10))  # the last that was saved is 40
    translations = parse(said(generate(run.average, "--scoring", "sacrebleu"), run.folder / "cwd"))
    assert len(translations.best) == SENTENCES["test"]
    bleu = sacrebleu.corpus_bleu(translations.best, [(text / "test.tgt").read_text().splitlines()])
    assert bleu.score >= 80  # of what learned nothing it is below 10
    assert not list((run.folder / "cwd").iterdir())
    assert f"BLEU = {bleu.score:.2f} " in translations.output


def test_the_profile_of_admin_is_logged_once_and_kept(trained: Callable[[str], Trained]) -> None:
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


def profile(checkpoint: Path, side: str) -> list[float]:
    weights = load(checkpoint)
    return [float(w0) for name, w0 in weights.items() if name.startswith(side) and name.endswith("_shortcut.w0")]
