"""Checkpoints: fairseq's own load everywhere, one that would run code is refused everywhere, and runs nothing."""

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models.transformer import TransformerModel
from faults.malicious import HIDING_PLACES, Hide
from fixture_types import Command, Once
from programs.processes import outcomes_of
from programs.stock_runs import TINY

from realformer_nmt import cli
from realformer_nmt.common.errors import UserError


@pytest.fixture(scope="session")
def checkpoint(once: Once, fairseq: Command, toy_corpus: Path, user_dir: Path) -> Path:
    """Checkpoint of five updates, with BLEU counts among its meters."""

    def train(folder: Path) -> None:
        limits = ("--eval-bleu", "--validate-interval-updates", 3, "--max-update", 5)
        done = fairseq("train", toy_corpus, "--user-dir", user_dir, *TINY, *limits, "--save-dir", folder)
        assert done.returncode == 0, done.stderr

    return once("compat_checkpoint", train) / "checkpoint_last.pt"


HELD = r"(holds [\w.]+|is not a complete checkpoint)"


@pytest.fixture
def bad(checkpoint: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "checkpoint_bad.pt"
    request.param(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), path, tmp_path / "proof")
    return path


def load_from_hub(path: Path) -> Any:
    return TransformerModel.from_pretrained(str(path.parent), path.name)


LOADERS = (checkpoint_utils.load_checkpoint_to_cpu, checkpoint_utils.load_ema_from_checkpoint, load_from_hub)


def covered(doors: Sequence[Any]) -> list[Any]:
    """Return all pairs of a hiding place and a door; the suite tries each place at the first, and the first at each."""
    pairs = product(enumerate(HIDING_PLACES), enumerate(doors))
    return [
        pytest.param(
            hide,
            door,
            marks=[pytest.mark.product] * bool(number and place),
            id=f"{hide.__name__} {getattr(door, '__name__', door)}",
        )
        for (number, hide), (place, door) in pairs
    ]


@pytest.mark.parametrize(("bad", "load"), covered(LOADERS), indirect=["bad"])
def test_refused(bad: Path, load: Callable[[Any], Any]) -> None:
    with pytest.raises(UserError, match=rf"bad\.pt: it {HELD}"):
        load(bad if load is load_from_hub else str(bad))
    assert not (bad.parent / "proof").exists()


def test_each_would_run_if_it_were_loaded_without_care(checkpoint: Path, tmp_path: Path) -> None:
    """The other tests prove something only if this one holds; torch loads no TorchScript file as a pickle."""
    ran = []
    for hide in HIDING_PLACES:
        path, proof = tmp_path / f"{hide.__name__}.pt", tmp_path / hide.__name__
        hide(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), path, proof)
        with contextlib.suppress(Exception):
            torch.load(path, weights_only=False)
        if proof.exists():
            ran.append(hide.__name__)
    assert ran == [hide.__name__ for hide in HIDING_PLACES if hide.__name__ != "as_torchscript"]


def commands(corpus: Path, bad: Path, good: Path, user_dir: Path) -> dict[str, tuple[object, ...]]:
    common = (corpus, "--user-dir", user_dir, "--cpu")
    train = ("fairseq-train", *common, *TINY, "--max-update", 6, "--save-dir", bad.parent)
    return {
        "resume": (*train, "--restore-file", bad),
        "generate": ("fairseq-generate", *common, "--path", f"{good}:{bad}"),
    }


HIDDEN = HIDING_PLACES[0]  # the commands load by the function that is tried with every other


@pytest.fixture(scope="module")
def refusals(checkpoint: Path, toy_corpus: Path, user_dir: Path, once: Once) -> Path:
    """A folder with proof in it if anything was run, and refusals.json: command -> outcome.

    Also where the user asks torch to load anything: that variable is for calls that do not say what they want."""

    def attack(folder: Path) -> None:
        bad = folder / "checkpoint_bad.pt"
        HIDDEN(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), bad, folder / "proof")
        jobs = commands(toy_corpus, bad, checkpoint, user_dir)
        outcomes = outcomes_of(jobs, folder, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
        (folder / "refusals.json").write_text(json.dumps(outcomes))

    return once("refusals", attack)


@pytest.mark.parametrize("name", ["resume", "generate"])
def test_refused_by_the_command(name: str, refusals: Path) -> None:
    status, output = json.loads((refusals / "refusals.json").read_text())[name]
    last = output.splitlines()[-1]
    assert status == 1
    assert re.search(rf"fairseq-\w+: .*/checkpoint_bad\.pt(: it {HELD}| was cut off or damaged: )", last)
    assert not (refusals / "proof").exists()


OURS = (
    "average {}",
    "average {} --last 1",
    "average {} --best 1",
    "translate {} --data {data} --subwords none",
    "inspect {}",
    "analyse {}",
    "evaluate {} --data {data} --subset valid",
    "answer {} --questions {data}/dict.src.txt",
    "export {} --to fairseq --data {data} --subwords none",
)


@pytest.mark.parametrize(("hide", "words"), covered(OURS))
def test_refused_by_ours(
    hide: Hide,
    words: str,
    checkpoint: Path,
    toy_corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    which = re.search(r"--(last|best)", words)
    bad = tmp_path / {"last": "checkpoint1.pt", "best": "checkpoint.best_loss_1.0000.pt"}.get(
        which[1] if which else "", "bad.pt"
    )
    hide(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), bad, tmp_path / "proof")
    arguments = words.format(tmp_path if which else bad, data=toy_corpus).split()
    output = [] if arguments[0] == "inspect" else ["--output", str(tmp_path / "output")]
    assert cli.main([*arguments, *output]) == 1
    stderr = capsys.readouterr().err
    assert re.search(
        rf"realformer-nmt: .*{re.escape(bad.name)}\b.*(nothing of it was run|not a complete|incomplete or damaged)",
        stderr,
    )
    assert stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [bad.name]
