"""One test per promise of an extraction: named files, in their folder, complete or not there."""

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from texts.miniature import pack

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.archives.extract import extract

KINDS = ("a.tar", "a.tgz", "a.zip")
NOISE = np.random.default_rng(5).bytes(300_000)  # does not compress: cuts fall into it
MEMBERS = {"top.en": b"one\ntwo\n", "training/v9.de-en.de": NOISE, "giga.en.gz": gzip.compress(b"inner\n")}


def archived(folder: Path, name: str, members: dict[str, bytes] = MEMBERS) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_bytes(pack(name, members))
    return folder / name


def files(folder: Path) -> dict[str, bytes]:
    """All of a folder but the note of its archive."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if name != ".extracted.json"}


@pytest.mark.parametrize("name", KINDS)
def test_the_wanted_members_are_taken_and_no_others(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name)
    members = ["training/v9.de-en.de", "giga.en.gz"]
    assert extract(archive, members, tmp_path / "out") == {member: tmp_path / "out" / member for member in members}
    assert files(tmp_path / "out") == {member: MEMBERS[member] for member in members}


def test_a_second_call_takes_nothing_from_the_archive(tmp_path: Path) -> None:
    archive = archived(tmp_path, "a.tgz")
    extract(archive, ["top.en"], tmp_path / "out")
    before, written = archive.stat(), (tmp_path / "out" / "top.en").stat().st_mtime_ns
    archive.write_bytes(bytes(before.st_size))  # not to be opened: no error
    os.utime(archive, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert extract(archive, ["top.en"], tmp_path / "out") == {"top.en": tmp_path / "out" / "top.en"}
    assert (tmp_path / "out" / "top.en").stat().st_mtime_ns == written
    with pytest.raises(UserError, match=r"a\.tgz"):
        extract(archive, ["giga.en.gz"], tmp_path / "out")


def test_after_an_interruption_what_is_complete_is_not_done_again(tmp_path: Path) -> None:
    archive, out = archived(tmp_path, "a.tgz"), tmp_path / "out"
    extract(archive, list(MEMBERS), out)
    complete = (out / "giga.en.gz").stat().st_mtime_ns
    (out / "training" / "v9.de-en.de").unlink()
    (out / "training" / "v9.de-en.de.0123abcd.part").write_bytes(NOISE[:1000])
    extract(archive, list(MEMBERS), out)
    assert files(out) == MEMBERS
    assert (out / "giga.en.gz").stat().st_mtime_ns == complete


def test_members_of_another_archive_are_done_again(tmp_path: Path) -> None:
    """One by one: also where a run is killed after the first."""
    out = tmp_path / "out"
    extract(archived(tmp_path / "1", "a.tgz", {"top.en": b"one\n", "other": b""}), ["top.en", "other"], out)
    extract(archived(tmp_path / "2", "a.tgz", {"top.en": b"two\n"}), ["top.en"], out)
    assert files(out)["top.en"] == b"two\n"


def test_a_file_of_the_users_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "top.en").write_bytes(b"mine\n")
    with pytest.raises(UserError, match=r"out/top\.en"):
        extract(archived(tmp_path, "a.tgz"), ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {"top.en": b"mine\n"}


def test_a_single_file_is_its_own_member_and_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "train.en.gz").write_bytes(MEMBERS["giga.en.gz"])
    out = tmp_path / "out"
    assert extract(tmp_path / "train.en.gz", ["train.en.gz"], out) == {"train.en.gz": tmp_path / "train.en.gz"}
    assert not out.exists()
    named = archived(tmp_path, "a.tgz").rename(tmp_path / "download")
    assert extract(named, ["top.en"], out, name="a.tgz")["top.en"].read_bytes() == MEMBERS["top.en"]
    with pytest.raises(UserError, match=r"train\.en\.gz: has no member train\.de\.gz; near it are train\.en\.gz"):
        extract(tmp_path / "train.en.gz", ["train.de.gz"], out)


def test_a_missing_member_is_answered_with_the_nearest(tmp_path: Path) -> None:
    message = r"a\.tgz: has no member training/v9\.de-en\.en; near it are training/v9\.de-en\.de"
    with pytest.raises(UserError, match=message):
        extract(archived(tmp_path, "a.tgz"), ["top.en", "training/v9.de-en.en"], tmp_path / "out")


@pytest.mark.parametrize("member", ["a/../../evil", "/etc/evil", ""])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, member: str) -> None:
    archive = archived(tmp_path / "archives", "a.tgz", {"../evil": b"", **MEMBERS})
    with pytest.raises(ValueError, match="allowed is a path that stays in its folder"):
        extract(archive, [member], tmp_path / "out")
    extract(archive, ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {"top.en": MEMBERS["top.en"]}
    assert not (tmp_path / "evil").exists()


def _tar_of(kind: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        with tarfile.open(folder / "a.tar", "w") as tar:
            tar.addfile(tarfile.TarInfo("other"))
            info = tarfile.TarInfo("top.en")
            info.type, info.linkname = kind, "other"
            tar.addfile(info)
        return folder / "a.tar"

    return write


def _zip_of_a_link(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w") as packed:
        info = zipfile.ZipInfo("top.en")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(info, "/etc/hostname")
    return folder / "a.zip"


TAR_KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.GNUTYPE_SPARSE)


@pytest.mark.parametrize("write", [*map(_tar_of, TAR_KINDS), _zip_of_a_link])
def test_only_files_are_extracted(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    with pytest.raises(UserError, match=r"top\.en is a link, a folder or a device"):
        extract(write(tmp_path), ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {}


def test_a_zip_that_lies_about_a_size_writes_no_more_than_it_declares(tmp_path: Path) -> None:
    archive = archived(tmp_path, "a.zip", {"bomb": bytes(1_000_000)})
    content = archive.read_bytes().replace((1_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    archive.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.zip: damaged or cut short"):
        extract(archive, ["bomb"], tmp_path / "out")
    assert files(tmp_path / "out") == {}


def test_a_member_with_a_size_below_0_is_not_read_for_ever(tmp_path: Path) -> None:
    info = tarfile.TarInfo("other")
    info.size = -512
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    with pytest.raises(UserError, match=r"a\.tar: other has a size below 0: take a sound archive"):
        extract(tmp_path / "a.tar", ["top.en"], tmp_path / "out")


@pytest.mark.parametrize("name", KINDS)
def test_an_archive_cut_within_the_member_is_called_damaged(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name)
    archive.write_bytes(archive.read_bytes()[:200_000])
    with pytest.raises(UserError, match=rf"{name}: damaged or cut short \(.+\); remove it and fetch it again"):
        extract(archive, ["training/v9.de-en.de"], tmp_path / "out")
    assert files(tmp_path / "out") == {}


def test_a_leading_dot_is_no_part_of_a_members_name(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        info = tarfile.TarInfo("./top.en")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"one\n"))
    extract(tmp_path / "a.tgz", ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {"top.en": b"one\n"}
