"""Flags of fairseq-train that a grid or a protocol may set, and those that it may not."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from fairseq import options

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.part_names import FAMILY_OPTIONS
from realformer_nmt.protocols import protocol
from realformer_nmt.protocols.allowed_flags import ALLOWED, check_flags

CODE = ["user-dir", "user_dir", "user-d", "user-dir=/x", "-user-dir", "user-dir ", "USER-DIR", ""]
FILES = ["save-dir", "restore-file", "log-file", "plasma-path", "data", "log-fi", "task"]
ADDRESSES = ["wandb-project", "aim-repo", "distributed-init-method", "arch", "bpe"]
VALUES = ["/etc", "--user-dir", "-x", "${oc.env:HOME}", "a;b", "a\nb", "", "$(id)", "~"]


@pytest.mark.parametrize("name", [*CODE, *FILES, *ADDRESSES])
def test_a_file_names_no_code_no_place_and_no_address(name: str, tmp_path: Path) -> None:
    grid, protocol_file = tmp_path / "grid.toml", tmp_path / "own.toml"
    for table in ("[train]", "[[override]]\nseed = 1\n[override.train]"):
        grid.write_text(f'families = ["admin"]\nlayers = ["1"]\n{table}\n"{name}" = "x"\n')
        with pytest.raises(UserError, match=r"may not be set in a file|is a key of the grid itself"):
            grids.load(grid)
    for table in ("[train]", "[corpora.c.train]", '[layers."1".train]', '[corpora.c.layers."1".train]'):
        protocol_file.write_text(f'base = "small"\n{table}\n"{name}" = "x"\n')
        if table != '[corpora.c.layers."1".train]':
            with pytest.raises(UserError, match="may not be set in a file"):
                protocol.load(str(protocol_file), "c", "1")


def test_a_file_sets_every_number_of_a_side() -> None:
    """A side is the encoder or the decoder; a family's parts have no side in their names."""
    sides = [name for field in fields(TranslationConfig) if (name := field.name).startswith(("encoder_", "decoder_"))]
    assert {name.replace("_", "-") for name in sides} <= ALLOWED


@pytest.mark.parametrize("name", FAMILY_OPTIONS)
def test_what_a_familys_name_stands_for_is_no_setting_of_a_file(name: str) -> None:
    flag = name.replace("_", "-")
    with pytest.raises(ValueError, match=f"--{flag} is what a family's name stands for"):
        check_flags({flag: "none"}, {})


@pytest.mark.parametrize(
    ("name", "value"), [*(("lr", value) for value in VALUES), ("fp16", "-x"), ("best-checkpoint-metric", "a/b")]
)
def test_a_value_is_a_number_or_a_word(name: str, value: str) -> None:
    """Behind a switch, a word that begins as a flag would be one."""
    for setting in (value, [value]):
        with pytest.raises(ValueError, match=f"--{name} "):
            check_flags({name: setting}, {})


@pytest.mark.parametrize(
    "flags",
    [
        {"lr": [5e-4, 1e-4], "adam-betas": "(0.9, 0.98)", "fp16-adam-stats": True, "criterion": "cross_entropy"},
        {"lr": "5e-4", "optimizer": "adam", "end-learning-rate": "-1", "best-checkpoint-metric": "bleu"},
    ],
)
def test_what_a_training_needs_reaches_each_cell(flags: dict[str, Any], tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    train = "".join(f"{name} = {json.dumps(value)}\n" for name, value in flags.items())  # which is TOML, too
    grid.write_text(f'families = ["admin"]\nlayers = ["1"]\n[train]\n{train}')
    read = grids.load(grid)
    assert [read.options("train", cell) for cell in read.cells()] == [flags]


def test_every_allowed_flag_is_no_text_but_for_a_few_words() -> None:
    """fairseq's own types say what may name a file: all of its text options are left out but these."""
    parser = options.get_training_parser()
    texts = {
        option.removeprefix("--")
        for action in parser._actions
        for option in action.option_strings
        if action.type is str
    }
    assert texts & ALLOWED == {"best-checkpoint-metric"}
    assert len(texts) > 20


def test_a_loss_of_ones_own_needs_its_folder() -> None:
    with pytest.raises(ValueError, match=r"--criterion mine is not one of .*; one of your own needs --user-dir"):
        check_flags({"criterion": "mine"}, {})
