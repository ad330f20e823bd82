import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs.slow_writers import FOLDER, writer

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_writers_do_not_disturb_each_other_and_the_first_to_end_has_the_name(tmp_path: Path) -> None:
    slow = writer(FOLDER, tmp_path / "a", "slow")
    with completed_folder(tmp_path / "a") as folder:
        (folder / "file").write_text("quick")
    _, _ = slow.communicate("\n")
    assert slow.returncode == 1
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a" / "file").read_text() == "quick"


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_there_stays_as_it_is(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "a"
    {"folder": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to("nowhere")}[kind]()
    with pytest.raises(UserError, match="a is there already: name another folder"), completed_folder(place):
        pytest.fail("begun")
    assert names(tmp_path) == ["a"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file(/a)?: (Not a directory|File exists)"):
        completed_folder(tmp_path / "file" / "a").__enter__()


@pytest.mark.parametrize(
    ("work", "culprit"),
    [
        (lambda inputs, _: (inputs / "absent.txt").read_text(), "inputs/absent.txt"),
        (lambda inputs, _: inputs.read_text(), "inputs"),
        (lambda _, part: (part / "deep" / "file").touch(), "a"),
        (lambda inputs, part: (inputs / "absent.txt").rename(part / "b"), "a"),
    ],
)
def test_an_error_names_the_input_that_it_is_about_or_else_the_folder(
    work: Callable[[Path, Path], object], culprit: str, tmp_path: Path
) -> None:
    (tmp_path / "inputs").mkdir()
    message = rf"^{re.escape(str(tmp_path))}/{culprit}: (No such file or|Is a) directory; fix that and run this again$"
    with pytest.raises(UserError, match=message), completed_folder(tmp_path / "a") as part:
        work(tmp_path / "inputs", part)
