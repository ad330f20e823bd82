"""--folder FILE, or RUN, is refused in one line before anything is printed or written."""

from pathlib import Path

import pytest
from grids import comparisons
from programs.commands import OURS, run

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.compare_request import CompareRequest

RUN = ("run", "multi30k_en_de", "--layers", "6", "--protocol", "small")


def check_refused(file: Path, *arguments: object) -> None:
    content = file.read_text()
    done = run([*OURS, *map(str, arguments)])
    line = f"realformer-nmt: {file} is not a folder: name another one, or remove it\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)
    assert file.read_text() == content
    assert [path.name for path in file.parent.iterdir() if path.suffix != ".toml"] == [file.name]


@pytest.mark.parametrize("content", ["", "mine"])
@pytest.mark.parametrize("options", [[], ["--status"], ["--plan"], ["--report"]], ids=str)
def test_compare_refuses_a_file_as_its_folder(tmp_path: Path, content: str, options: list[str]) -> None:
    (file := tmp_path / "file").write_text(content)
    grid = comparisons.write_grid(tmp_path, tmp_path / "data-bin")
    check_refused(file, "compare", grid, "--folder", file, "--gpus", 0, *options)


def test_compare_refuses_the_folder_of_a_training(tmp_path: Path) -> None:
    (tmp_path / "train.json").touch()
    grid = comparisons.write_grid(tmp_path, tmp_path / "data-bin")
    with pytest.raises(UserError, match=r"is the folder of a training, with train\.json: name another --folder"):
        CompareRequest(grid=grid, folder=tmp_path).run()


@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--stage", "train"]], ids=str)
@pytest.mark.parametrize("within", ["", "runs/deep"])
def test_run_refuses_a_file_as_its_folder_or_on_the_way(tmp_path: Path, within: str, options: list[str]) -> None:
    (file := tmp_path / "file").write_text("mine")
    check_refused(file, *RUN, "--folder", file / within, *options)
