"""Mistaken commands of fairseq's, a row for each kind, end with one line and a status that is not 0."""

import os
from pathlib import Path

import pytest
from faults import bad_files
from fixture_types import Once
from programs.processes import Outcome, outcomes_of

TRAIN = """data --arch realformer_tiny --optimizer adam --lr 0.001 --max-tokens 500 --max-update 1 --encoder-layers 1
    --decoder-layers 1 --share-all-embeddings --save-dir made --no-save --cpu --num-workers 0"""
BASES = {  # a row's own words come after these, and win; a name at its beginning takes the place of the first of them
    "fairseq-train": TRAIN,
    "fairseq-generate": "data --path good.pt --cpu --num-workers 0 --beam 1 --max-len-b 5",
    "fairseq-interactive": "data --path good.pt --cpu --input ok.en --beam 1",
    "fairseq-preprocess": "--source-lang en --target-lang de --trainpref ok --destdir made --workers 1",
}
MISTAKES = """
    fairseq-train --dropout 2
    fairseq-train --lr nan
    fairseq-train --max-tokens 0
    fairseq-train --max-update 0 --max-epoch 0
    fairseq-train --encoder-attention-heads 7
    fairseq-train --fp16
    fairseq-train --eval-bleu --eval-bleu-args {
    fairseq-train --arch realfomer
    fairseq-train --criterion ctc
    fairseq-train --lerning-rate 1
    fairseq-train --save-dir ok.en/x
    fairseq-train --restore-file cut.pt
    fairseq-train otherwords
    fairseq-train co:lon
    fairseq-generate --lenpen nan
    fairseq-interactive --input latin1
    fairseq-preprocess --trainpref absent
"""
COMMANDS = [line.strip() for line in MISTAKES.strip().splitlines()]


@pytest.fixture(scope="module")
def folder(once: Once, toy_corpus: Path) -> Path:
    def build(folder: Path) -> None:
        bad_files.write(folder, toy_corpus)
        os.mkfifo(folder / "pipe")
        (folder / "co:lon").symlink_to(folder / "data")

    return once("fairseq_mistakes", build)


@pytest.fixture(scope="module")
def outcomes(folder: Path, user_dir: Path) -> dict[str, Outcome]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        return outcomes_of({command: argv(command, user_dir) for command in COMMANDS}, folder)
    finally:
        os.chdir(before)


def argv(command: str, user_dir: Path) -> list[str]:
    program, *words = command.split()
    first, *base = BASES[program].split()
    first, words = (first, words) if words[0].startswith("-") else (words[0], words[1:])
    return [program, "--user-dir", str(user_dir), first, *base, *words]


@pytest.mark.parametrize("command", COMMANDS)
def test_one_line_names_the_program(command: str, outcomes: dict[str, Outcome]) -> None:
    status, output = outcomes[command]
    last = output.rstrip().splitlines()[-1]
    assert status in (1, 2), output[-2000:]
    assert last.startswith(f"{command.split()[0]}: ")
    assert "Traceback" not in output
    assert status == 2 or last.endswith(" (LOGLEVEL=DEBUG shows the traceback)")
