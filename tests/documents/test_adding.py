"""docs/adding.md as it stands: its module, its commands."""

import re
import shlex
from pathlib import Path

import pytest
from fixture_types import Command
from grids import comparisons
from programs import commands
from programs.program import REPOSITORY

PAGE = (REPOSITORY / "docs/adding.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The page's module, in the folder that the page names."""
    folder = tmp_path / "b2t"
    folder.mkdir()
    (folder / "__init__.py").write_text("".join(blocks("python")))
    return folder


def test_a_reader_who_follows_the_page_trains_and_translates(
    fairseq: Command, toy_corpus: Path, family: Path, tmp_path: Path
) -> None:
    lines = blocks("bash")[0].replace("\\\n", " ").strip().splitlines()
    replaced = {"demo/data/data-bin": str(toy_corpus), "b2t": str(family)}
    words = [[replaced.get(word, word) for word in shlex.split(line)] for line in lines]
    outputs = []
    for program, *arguments in words:
        places = [str(tmp_path / word) if word.startswith("b2t_checkpoints") else word for word in arguments]
        done = fairseq(program.removeprefix("fairseq-"), *places, "--cpu")
        assert done.returncode == 0, done.stderr[-2000:]
        outputs.append(done.stdout)
    assert "BottomToTop()" in outputs[0]  # fairseq-train prints the model
    assert outputs[1].count("\nH-") == 61  # sentences of the test set


def test_a_reader_who_follows_the_page_adds_the_family_to_a_finished_comparison(
    toy_corpus: Path, family: Path, tmp_path: Path
) -> None:
    """The finished cells stay as they are, then and when the reader's code changes."""
    assert blocks("bash")[1].endswith(f"--user-dir {family.name}\n")
    text = comparisons.GRID.partition("\n[failure]")[0].format(data=toy_corpus)
    for old, new in {'"realformer", ': "", '"1", "2-1"': '"1"', "updates = 200": "updates = 30"}.items():
        text = text.replace(old, new)
    (tmp_path / "grid.toml").write_text(text)
    program, *arguments = shlex.split(blocks("bash")[1])
    assert program == "realformer-nmt"
    first = commands.run([*commands.OURS, *arguments[:-2], "--gpus", "0"], folder=tmp_path)
    assert first.returncode == 0, first.stderr[-2000:]
    finished = written(tmp_path / "runs/cells/post_ln-1-s1")
    (tmp_path / "grid.toml").write_text(text.replace('["post_ln"]', '["my_b2t", "post_ln"]'))
    done = commands.run([*commands.OURS, *arguments, "--gpus", "0"], folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert written(tmp_path / "runs/cells/post_ln-1-s1") == finished
    record = comparisons.results(tmp_path / "runs")
    assert [(cell["family"], cell["differences"]) for cell in record["cells"]] == [("my_b2t", []), ("post_ln", [])]
    assert re.search(r"^\| my_b2t +\|", (tmp_path / "runs" / "table.md").read_text(), re.MULTILINE)
    (family / "__init__.py").write_text("".join([*blocks("python"), "# changed\n"]))
    changed = commands.run([*commands.OURS, *arguments, "--gpus", "0"], folder=tmp_path)
    assert changed.returncode == 1
    assert "my_b2t-1-s1 was made with other settings or files: train: __init__.py is another file\n" in changed.stderr
    assert "1 of 2 cells" in changed.stderr


def written(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file() and "lock" not in file.name}
