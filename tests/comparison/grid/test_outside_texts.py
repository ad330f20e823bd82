"""Option --outside refuses a name that clashes, another number of lines, and a task without translations."""

from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import outside_texts
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.outside_texts import OutsideText

GRID = Grid("grid", "", Path(), ("admin", "pre_ln"), ("6",))


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusChoice:
    (tmp_path / "reference").write_text("a\nb\n")
    (tmp_path / "text").write_text("c\nd\n")
    (tmp_path / "short").write_text("c\n")
    return CorpusChoice("corpus", tmp_path, references={"test": tmp_path / "reference"})


def test_a_text_has_a_name_and_a_file(corpus: CorpusChoice) -> None:
    file = corpus.data / "text"
    assert outside_texts.parse([f"gpt-5={file}"], GRID, corpus) == [OutsideText("gpt-5", file)]
    assert outside_texts.parse([], GRID, corpus) == []


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("c\nd\n".encode("utf-8-sig"))
    assert OutsideText("a", tmp_path / "text").lines() == ["c", "d"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["admin={}/text"], "admin is a family of the grid, or is named twice: choose another NAME"),
        (["a={}/text", "a={}/text"], "a is a family of the grid, or is named twice"),
        (["{}/text"], "allowed is NAME=FILE, where NAME"),
        (["a={}/short"], "short has 1 lines, and .*reference has 2: give one detokenised line for each line of test"),
        (["a={}/absent"], "--outside a=.*: .*absent: no such file"),
    ],
)
def test_what_does_not_fit_is_refused(options: list[str], message: str, corpus: CorpusChoice) -> None:
    with pytest.raises(UserError, match=message):
        outside_texts.parse([option.format(corpus.data) for option in options], GRID, corpus)


def test_a_task_that_does_not_translate_has_none(corpus: CorpusChoice) -> None:
    grid = Grid("grid", "", Path(), ("admin",), ("6",), task="masked_lm")
    with pytest.raises(UserError, match=r"--outside is for translations, and the task of grid\.toml is masked_lm"):
        outside_texts.parse([f"a={corpus.data / 'text'}"], grid, corpus)
