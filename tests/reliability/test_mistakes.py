"""Mistaken commands, fairseq's and ours, each end with one line and a status that is not 0.

One of each kind here; all of reliability/mistakes.py where EVERY_MISTAKE is set, as `make reliability` does.
"""

import os
import shutil
from pathlib import Path

import pytest
from faults import bad_files
from fixture_types import Once
from programs.processes import Outcome, outcomes_of

from realformer_nmt import cli
from reliability import mistakes

KINDS = """
    fairseq-train --dropout 2
    fairseq-train --max-update 0 --max-epoch 0
    fairseq-train --memory-efficient-fp16
    fairseq-train --eval-bleu --eval-bleu-args {
    fairseq-train --save-dir ok.en/x
    fairseq-train --criterion ctc
    fairseq-train co:lon
    fairseq-generate --path pipe
    fairseq-generate --lenpen nan
    fairseq-interactive --input latin1
    fairseq-preprocess --trainpref absent
    realformer-nmt inspect pipe
    realformer-nmt protocol small --layers 6-
    realformer-nmt protocol small_bert --layers 6-6
    realformer-nmt protocol small --corpus nope
    realformer-nmt protocol small --corpus absent.toml
    realformer-nmt average --output=
    realformer-nmt train -- --arch transformer
    realformer-nmt train -- --dropout 2
"""
BEGINNINGS = {"fairseq": "fairseq-", "ours": "realformer-nmt"}
COMMANDS = {
    whose: {
        name: words
        for name, words in mistakes.commands(beginning)
        if "EVERY_MISTAKE" in os.environ or name in map(str.strip, KINDS.splitlines())
    }
    for whose, beginning in BEGINNINGS.items()
}


@pytest.fixture(scope="module")
def folder(once: Once, toy_corpus: Path) -> Path:
    def build(folder: Path) -> None:
        bad_files.write(folder, toy_corpus)
        os.mkfifo(folder / "pipe")
        (folder / "co:lon").symlink_to(folder / "data")
        (folder / "co:lon.pt").symlink_to(folder / "good.pt")

    return once("mistakes", build)


@pytest.fixture(scope="module")
def outcomes(folder: Path, user_dir: Path) -> dict[str, Outcome]:
    """Outcomes of fairseq's commands."""
    jobs = {name: (words[0], "--user-dir", user_dir, *words[1:]) for name, words in COMMANDS["fairseq"].items()}
    before = Path.cwd()
    os.chdir(folder)
    try:
        return outcomes_of(jobs, folder)
    finally:
        os.chdir(before)


@pytest.mark.parametrize("name", COMMANDS["fairseq"])
def test_fairseqs_end_with_one_line(name: str, outcomes: dict[str, Outcome]) -> None:
    status, output = outcomes[name]
    last = output.rstrip().splitlines()[-1]
    assert status in (1, 2), output[-2000:]
    assert last.startswith(f"{name.split()[0]}: ")
    assert "Traceback" not in output
    assert status == 2 or last.endswith(" (LOGLEVEL=DEBUG shows the traceback)")


@pytest.mark.parametrize("name", COMMANDS["ours"])
def test_ours_end_with_one_line(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    for path in ("made", "run", "out", "cells"):
        shutil.rmtree(path, ignore_errors=True)
    status = cli.main(COMMANDS["ours"][name][1:])
    stderr = capfd.readouterr().err
    assert status in (1, 2), stderr
    assert stderr.rstrip().splitlines()[-1].startswith("realformer-nmt")
    assert "Traceback" not in stderr
    assert "unexpected error" not in stderr


def test_each_kind_is_among_the_mistakes() -> None:
    names = [name for beginning in BEGINNINGS.values() for name, _ in mistakes.commands(beginning)]
    assert len(names) == len(set(names))
    assert {line.strip() for line in KINDS.strip().splitlines()} <= set(names)
