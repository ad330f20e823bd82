import errno
import fcntl
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from programs.processes import started

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed, completed_folder, open_no_link

FILE = """
import sys
from pathlib import Path
from realformer_nmt.common.files.atomic_files import completed
with completed(Path(sys.argv[1])) as stream:
    stream.write(sys.argv[2].encode())
    stream.flush()
    print("written", flush=True)
    input()
"""
FOLDER = """
import sys
from pathlib import Path
from realformer_nmt.common.files.atomic_files import completed_folder
with completed_folder(Path(sys.argv[1])) as folder:
    (folder / "file").write_text(sys.argv[2])
    print("written", flush=True)
    input()
"""


def writer(program: str, place: Path, text: str) -> "subprocess.Popen[str]":
    """Return a process that has written, and waits for a line before it ends."""
    process, line = started("-c", program, place, text)
    assert line == "written\n"
    return process


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR | os.O_APPEND])
@pytest.mark.parametrize("target", ["/dev/null", "x"])
def test_a_link_in_the_place_of_a_file_is_not_followed(target: str, flags: int, tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        open_no_link(tmp_path / "file", flags | os.O_CREAT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_two_writers_of_one_file_each_write_all_of_theirs(tmp_path: Path) -> None:
    file = tmp_path / "a[1].json"
    one, other = writer(FILE, file, "one" * 1000), writer(FILE, file, "other")
    assert len(list(tmp_path.iterdir())) == 2
    with completed(file) as stream:
        stream.write(b"third")
    assert file.read_text() == "third"
    for process, text in ((other, "other"), (one, "one" * 1000)):
        process.communicate("\n")
        assert (process.returncode, file.read_text()) == (0, text)
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_killed_writer_left_is_removed_by_the_next_and_nothing_else_is(tmp_path: Path) -> None:
    names = {"a.tgz.part", "a.part", "b.json.0123abcd.part", "a.json.0123abcd.part.txt", "xa.json.0123abcd.part"}
    for name in names:
        (tmp_path / name).write_text("another's")
    killed = writer(FILE, tmp_path / "a.json", "half")
    killed.kill()
    killed.communicate(timeout=60)
    assert len(list(tmp_path.iterdir())) == len(names) + 1
    with completed(tmp_path / "a.json") as stream:
        stream.write(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", *names}


def fail(file: Path) -> None:
    with completed(file) as stream:
        stream.write(b"half")
        raise ZeroDivisionError


def test_a_block_that_fails_leaves_the_file_of_before(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("before")
    with pytest.raises(ZeroDivisionError):
        fail(tmp_path / "a.json")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "before")]


def test_a_disk_without_locks_takes_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))  # as Lustre does, unless it is mounted with flock

    monkeypatch.setattr(fcntl, "flock", flock)
    with completed(tmp_path / "a.json") as stream:
        stream.write(b"whole")
    with completed_folder(tmp_path / "folder") as part:
        (part / "inside").write_text("whole")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / name for name in ("a.json", "folder", "folder/inside")]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []  # and whether the file has its name

    def sync(descriptor: int) -> None:
        sizes.append((os.fstat(descriptor).st_size, (tmp_path / "a").exists()))

    monkeypatch.setattr(os, "fsync", sync)
    with completed(tmp_path / "a") as stream:
        stream.write(b"whole")
    with completed_folder(tmp_path / "b") as part:
        (part / "inside").write_text("within")
    assert (5, False) in sizes
    assert (6, True) in sizes


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
