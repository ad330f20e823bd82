"""Families through their lives: train, be killed, resume, average, generate; the suite takes the representatives."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu
import torch
from programs.processes import run_all, said
from programs.reports import parse, updates
from programs.runs import SENTENCES, UPDATES, Compose, Trained, at_update, family_options, load, load_state
from tiny_models.representatives import every_family


@every_family
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


@pytest.mark.parametrize("family", ["realformer", "synthesizer_random_vanilla", "resi_dual"])
def test_resumed_run_is_the_undisturbed_one(
    family: str, trained: Callable[[str], Trained], train: Compose, tmp_path: Path
) -> None:
    run_all({"train": train(tmp_path, *family_options(family), "--max-update", 80)}, tmp_path)
    resumed = at_update(trained(family).folder / "checkpoints", 80)
    undisturbed = at_update(tmp_path, 80)
    expected = load(undisturbed)
    assert load(resumed).keys() == expected.keys()
    for name, weight in load(resumed).items():
        assert torch.equal(weight, expected[name]), name
    states = [load_state(path)["last_optimizer_state"]["state"] for path in (resumed, undisturbed)]
    for moments, expected_moments in zip(*(state.values() for state in states), strict=True):
        assert torch.equal(moments["exp_avg_sq"], expected_moments["exp_avg_sq"])
