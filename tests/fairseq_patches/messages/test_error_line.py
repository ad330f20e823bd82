"""fairseq's own commands with our --user-dir: a mistake ends them with one line too, and with status 1."""

import json
import logging
import re
import shutil
import sys
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from fixture_types import Once
from programs.processes import Outcome, outcomes_of
from tiny_models import saved

from realformer_nmt.fairseq_patches.messages import error_line

MISTAKES = {  # command, flags, the last line: each kind once, as `make reliability` runs hundreds
    "depth 0": ("train", "--encoder-layers 0", r"--encoder-layers 0: allowed is 1 or more"),
    "another architecture": ("train", "--restore-file pre.pt", r"pre\.pt is of another model: --residual-topology"),
    "a larger dictionary": ("train", "--finetune-from-model words.pt", r"words\.pt .*embed_tokens.*another dictionary"),
    "stock, unsupported": (
        "train",
        "--arch post_ln_tiny --finetune-from-model cross.pt",
        r"--cross-self-attention True",
    ),
    "generate, a stock model of half a layer": (
        "generate",
        "data --path half.pt",
        r"half\.pt: no model can be built from it: .*'float' object",
    ),
    "generate, cut off": ("generate", "data --path cut.pt", r"cannot load \S*cut\.pt: it is not a complete checkpoint"),
    "interactive, another dictionary": ("interactive", "data --path order.pt", r"with another source dictionary"),
}


@pytest.fixture(scope="module")
def outcomes(once: Once, toy_corpus: Path, user_dir: Path) -> dict[str, Outcome]:
    def run(to: Path) -> None:
        folder = once("last_words", lambda folder: write(folder, toy_corpus))
        jobs = {name: words(folder, user_dir, *row[:2]) for name, row in MISTAKES.items()}
        (to / "outcomes.json").write_text(json.dumps(outcomes_of(jobs, folder)))

    records = json.loads((once("mistaken_commands", run) / "outcomes.json").read_text())
    return {name: Outcome(*outcome) for name, outcome in records.items()}


def write(folder: Path, data: Path) -> None:
    for name in ("data", "order"):
        shutil.copytree(data, folder / name)
    lines = (data / "dict.src.txt").read_text().splitlines(keepends=True)
    for side in ("src", "tgt"):
        (folder / "order" / f"dict.{side}.txt").write_text("".join(reversed(lines)))
    good = saved.state(data)
    model = good["model"]
    tiny = [f"--{side}-{what}={size}" for side in ("encoder", "decoder") for what, size in SHAPE.items()]
    longer = {key: torch.zeros(52, 64) if "embed_tokens" in key or "output" in key else model[key] for key in model}
    states = {
        "good": good,
        "words": {**good, "model": longer},
        "pre": saved.state(data, arch="pre_ln_tiny"),
        "order": saved.state(folder / "order"),
        "cross": saved.state(data, *tiny, "--cross-self-attention", arch="transformer"),
    }
    options = {"arch": "transformer", "task": "translation", "criterion": "cross_entropy", "encoder_layers": 2.5}
    states["half"] = {**good, "cfg": None, "args": Namespace(**options)}  # as older fairseq has them
    for name, state in states.items():
        saved.save(folder / f"{name}.pt", state)
    whole = (folder / "good.pt").read_bytes()
    (folder / "cut.pt").write_bytes(whole[: len(whole) // 2])


SHAPE = {"embed-dim": 64, "ffn-embed-dim": 128, "attention-heads": 4}


def words(folder: Path, user_dir: Path, command: str, flags: str) -> list[object]:
    arguments = [str(folder / word) if (folder / word).exists() else word for word in flags.split()]
    common = (f"fairseq-{command}", "--user-dir", user_dir, "--cpu", "--num-workers", "0")
    if command != "train":
        return [*common, *arguments]
    fixed = (folder / "data", "--arch", "realformer_tiny", "--save-dir", folder / "saved", "--no-save")
    return [*common, *fixed, *saved.OPTIMISER, *saved.SIZE, *arguments]


@pytest.mark.parametrize("name", MISTAKES)
def test_one_line_and_status_1(name: str, outcomes: dict[str, Outcome]) -> None:
    command, _, message = MISTAKES[name]
    status, output = outcomes[name]
    last = output.splitlines()[-1]
    assert status == 1
    assert last.startswith(f"fairseq-{command}: ")
    assert last.endswith(" (LOGLEVEL=DEBUG shows the traceback)")
    assert re.search(message, last)
    assert "Traceback" not in output


def test_debug_leaves_the_traceback_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for level, is_left in (("debug", True), ("INFO", False)):
        monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
        monkeypatch.setattr(logging, "raiseExceptions", True)
        monkeypatch.setenv("LOGLEVEL", level)
        error_line.shorten("fairseq-train")
        assert (sys.excepthook is sys.__excepthook__) is is_left


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("/usr/bin/fairseq-train", "fairseq-train"),
        ("/lib/fairseq_cli/eval_lm.py", "fairseq-eval-lm"),
        ("/usr/bin/fairseq-unknown", None),
        ("/home/me/train.py", None),
    ],
)
def test_only_fairseqs_commands_are_shortened(
    program: str, command: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [program])
    assert error_line.command() == command
