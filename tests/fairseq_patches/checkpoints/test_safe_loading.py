"""Checkpoints: fairseq's own load everywhere, one that would run code is refused everywhere, and runs nothing."""

import argparse
import contextlib
import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models.transformer import TransformerModel
from faults.malicious import HIDING_PLACES, Hide
from fixture_types import Command, Once
from omegaconf import OmegaConf
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


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
@pytest.mark.parametrize("bad", HIDING_PLACES, ids=lambda hide: hide.__name__, indirect=True)
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


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_part_of_a_checkpoint_is_named(checkpoint: Path, tmp_path: Path, part: float) -> None:
    path = tmp_path / "part.pt"
    path.write_bytes(checkpoint.read_bytes()[: int(part * checkpoint.stat().st_size)])
    with pytest.raises(UserError, match=r"cannot load .*part\.pt: it is not a complete checkpoint"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))


@pytest.mark.parametrize("text", ["", "a text\n", "\N{SNOWMAN}" * 99, "{}"])
def test_a_text_is_no_checkpoint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.pt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"notes\.pt: it is no"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))


def commands(corpus: Path, bad: Path, good: Path, user_dir: Path) -> dict[str, tuple[object, ...]]:
    common = (corpus, "--user-dir", user_dir, "--cpu")
    train = ("fairseq-train", *common, *TINY, "--max-update", 6, "--save-dir", bad.parent)
    decode = (*common, "--path", f"{good}:{bad}")
    return {
        "resume": (*train, "--restore-file", bad),
        "finetune": (*train, "--finetune-from-model", bad),
        "generate": ("fairseq-generate", *decode),
        "interactive": ("fairseq-interactive", *decode),
        "validate": ("fairseq-validate", *common, "--task", "translation", "--max-tokens", 500, "--path", bad),
    }


COMMANDS = ("resume", "finetune", "generate", "interactive", "validate")
ATTACKS = [  # every command with the first, every other with one of the commands, which all load by the same function
    (name, hide)
    for number, hide in enumerate(HIDING_PLACES)
    for place, name in enumerate(COMMANDS)
    if number == 0 or number % len(COMMANDS) == place
]


@pytest.fixture(scope="module")
def refusals(checkpoint: Path, toy_corpus: Path, user_dir: Path, once: Once) -> Path:
    """A folder for each build, with proof in it if anything of it was run, and refusals.json: command -> outcome.

    Also where the user asks torch to load anything: that variable is for calls that do not say what they want."""

    def attack(folder: Path) -> None:
        jobs: dict[str, tuple[object, ...]] = {}
        for hide in HIDING_PLACES:
            bad = folder / hide.__name__ / "checkpoint_bad.pt"
            bad.parent.mkdir()
            hide(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), bad, bad.parent / "proof")
            words = commands(toy_corpus, bad, checkpoint, user_dir)
            jobs |= {f"{name} {hide.__name__}": words[name] for name, place in ATTACKS if place is hide}
        outcomes = outcomes_of(jobs, folder, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
        (folder / "refusals.json").write_text(json.dumps(outcomes))

    return once("refusals", attack)


@pytest.mark.parametrize(("name", "hide"), ATTACKS)
def test_refused_by_the_command(name: str, hide: Hide, refusals: Path) -> None:
    status, output = json.loads((refusals / "refusals.json").read_text())[f"{name} {hide.__name__}"]
    last = output.splitlines()[-1]
    assert status == 1
    assert re.search(rf"fairseq-\w+: .*{hide.__name__}/checkpoint_bad\.pt(: it {HELD}| was cut off or damaged: )", last)
    assert not (refusals / hide.__name__ / "proof").exists()


LOADING = (
    "average {}",
    "average {} --last 1",
    "average {} --best 1",
    "translate {} --data {data} --subwords none",
    "inspect {}",
)
OF_ONE_TEXT = ("analyse {}", "evaluate {} --data {data} --subset valid", "answer {} --questions {data}/dict.src.txt")
OURS = [*product(HIDING_PLACES, LOADING), *product(HIDING_PLACES[:1], OF_ONE_TEXT)]  # which load as the others do


@pytest.mark.parametrize(("hide", "words"), OURS)
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
    assert not (tmp_path / "proof").exists()


def test_options_in_a_checkpoint_are_not_evaluated(
    checkpoint: Path, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """fairseq's convolutional model evaluates its layers as Python; the checkpoint holds plain text alone."""
    state = checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))
    path, proof = tmp_path / "fconv.pt", tmp_path / "proof"
    layers = f"__import__('os').mkdir({str(proof)!r})"
    model = argparse.Namespace(**{**FCONV, "encoder_layers": layers})
    cfg = {**OmegaConf.to_container(state["cfg"]), "model": model}
    torch.save({**state, "cfg": cfg}, path)
    job = {"generate": ("fairseq-generate", toy_corpus, "--user-dir", user_dir, "--cpu", "--path", path)}
    status, output = outcomes_of(job, tmp_path)["generate"]
    assert status == 1
    assert "which is neither a number nor a name" in output.splitlines()[-1]
    assert not proof.exists()


def test_the_criterion_of_a_checkpoint_empties_no_file(
    checkpoint: Path, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """fairseq's sentence_ranking opens what it is to save its predictions in."""
    precious = tmp_path / "precious"
    precious.write_text("kept")
    state = checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))
    criterion = {"_name": "sentence_ranking", "save_predictions": str(precious)}
    path = tmp_path / "ranking.pt"
    torch.save({**state, "cfg": {**OmegaConf.to_container(state["cfg"]), "criterion": criterion}}, path)
    common = (toy_corpus, "--user-dir", user_dir, "--cpu", "--path", path)
    jobs = {"validate": ("fairseq-validate", *common, "--task", "translation", "--max-tokens", 500)}
    status, output = outcomes_of(jobs, tmp_path)["validate"]
    assert status == 1
    assert "ranking.pt asks for the criterion 'sentence_ranking'" in output.splitlines()[-1]
    assert precious.read_text() == "kept"


WIDTHS = {"encoder_embed_dim": 8, "decoder_embed_dim": 8, "encoder_embed_path": None, "decoder_embed_path": None}
FCONV = {"arch": "fconv", "_name": "fconv", "dropout": 0.1, "decoder_layers": "[(8, 3)]", "decoder_attention": "True"}
FCONV |= {"decoder_out_embed_dim": 8, "share_input_output_embed": False, **WIDTHS}
FCONV |= {"max_source_positions": 99, "max_target_positions": 99}


def test_a_good_one_resumes(
    checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    limits = ("--eval-bleu", "--max-update", 7, "--save-dir", tmp_path, "--restore-file", checkpoint)
    done = fairseq("train", toy_corpus, "--user-dir", user_dir, *TINY, *limits)
    assert done.returncode == 0, done.stderr
    assert "(epoch 1 @ 5 updates)" in done.stdout
    resumed = checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "checkpoint_last.pt"))
    assert resumed["optimizer_history"][-1]["num_updates"] == 7


def test_every_sentence_of_a_good_one_is_generated(
    checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path
) -> None:
    """61 sentences: eight a batch, and five."""
    done = fairseq("generate", toy_corpus, "--user-dir", user_dir, "--path", checkpoint, "--batch-size", 8, "--beam", 1)
    assert done.returncode == 0, done.stderr
    numbers = [int(line[2:].split("\t")[0]) for line in done.stdout.splitlines() if line.startswith("H-")]
    assert sorted(numbers) == list(range(61))
    assert "Warning" not in done.stderr


def test_every_sentence_is_validated(checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path) -> None:
    arguments = ("--task", "translation", "--path", checkpoint, "--max-tokens", 4000, "--log-format", "simple")
    done = fairseq("validate", toy_corpus, "--user-dir", user_dir, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("| bsz 203")
