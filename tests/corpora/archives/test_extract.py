import gzip
import io
import os
import resource
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    """All of a folder but the record of what is complete."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if name != ".extracted.json"}


@pytest.mark.parametrize("name", KINDS)
def test_the_wanted_members_are_taken_and_no_others(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name)
    members = ["training/v9.de-en.de", "giga.en.gz"]
    assert extract(archive, members, tmp_path / "out") == {member: tmp_path / "out" / member for member in members}
    assert files(tmp_path / "out") == {member: MEMBERS[member] for member in members}


@pytest.mark.parametrize("name", KINDS)
def test_a_second_call_takes_nothing_from_the_archive(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name)
    extract(archive, ["top.en"], tmp_path / "out")
    before, written = archive.stat(), (tmp_path / "out" / "top.en").stat().st_mtime_ns
    archive.write_bytes(bytes(before.st_size))  # not to be opened: no error
    os.utime(archive, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert extract(archive, ["top.en"], tmp_path / "out") == {"top.en": tmp_path / "out" / "top.en"}
    assert (tmp_path / "out" / "top.en").stat().st_mtime_ns == written
    with pytest.raises(UserError, match=f"{name}"):
        extract(archive, ["giga.en.gz"], tmp_path / "out")


def test_what_is_half_written_is_done_again_and_what_is_whole_is_not(tmp_path: Path) -> None:
    archive, out = archived(tmp_path, "a.tgz"), tmp_path / "out"
    extract(archive, list(MEMBERS), out)
    whole = (out / "giga.en.gz").stat().st_mtime_ns
    (out / "top.en").write_bytes(b"one\n")
    (out / "training" / "v9.de-en.de").unlink()
    (out / "training" / "v9.de-en.de.0123abcd.part").write_bytes(NOISE[:1000])
    extract(archive, list(MEMBERS), out)
    assert files(out) == MEMBERS
    assert (out / "giga.en.gz").stat().st_mtime_ns == whole


def test_members_of_another_archive_are_done_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    extract(archived(tmp_path / "1", "a.tgz", {"top.en": b"one\n"}), ["top.en"], out)
    extract(archived(tmp_path / "2", "a.tgz", {"top.en": b"two\n"}), ["top.en"], out)
    assert files(out) == {"top.en": b"two\n"}


def test_a_single_file_is_its_own_member_and_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "train.en.gz").write_bytes(MEMBERS["giga.en.gz"])
    out = tmp_path / "out"
    assert extract(tmp_path / "train.en.gz", ["train.en.gz"], out) == {"train.en.gz": tmp_path / "train.en.gz"}
    assert not out.exists()
    with pytest.raises(UserError, match=r"train\.en\.gz: has no member train\.de\.gz; near it are train\.en\.gz"):
        extract(tmp_path / "train.en.gz", ["train.de.gz"], out)


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_member_is_answered_with_the_nearest(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        UserError, match=rf"{name}: has no member training/v9\.de-en\.en; near it are training/v9\.de-en\.de"
    ):
        extract(archived(tmp_path, name), ["top.en", "training/v9.de-en.en"], tmp_path / "out")


@pytest.mark.parametrize("member", ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil", "", "a\0b"])
@pytest.mark.parametrize("name", KINDS)
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str, member: str) -> None:
    archive = archived(tmp_path / "archives", name, {"../evil": b"", **MEMBERS})
    with pytest.raises(UserError, match="allowed is a path that stays in its folder"):
        extract(archive, [member], tmp_path / "out")
    extract(archive, ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {"top.en": MEMBERS["top.en"]}
    assert not (tmp_path / "evil").exists()


def _tar_of(kind: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        with tarfile.open(folder / "a.tar", "w") as tar:
            info = tarfile.TarInfo("top.en")
            info.type, info.linkname = kind, "/etc/hostname"
            tar.addfile(info)
        return folder / "a.tar"

    return write


def _zip_of_a_link(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w") as packed:
        info = zipfile.ZipInfo("top.en")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(info, "/etc/hostname")
    return folder / "a.zip"


@pytest.mark.parametrize(
    "write",
    [
        *map(
            _tar_of,
            (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE),
        ),
        _zip_of_a_link,
    ],
)
def test_only_files_are_extracted(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    with pytest.raises(UserError, match=r"top\.en is a link, a folder or a device"):
        extract(write(tmp_path), ["top.en"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", KINDS)
def test_a_member_that_is_too_large_is_refused_before_it_is_written(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name, {"bomb": bytes(1_000_000)})
    with pytest.raises(UserError, match="bomb has 1,000,000 bytes, more than the 999,999 that are allowed"):
        extract(archive, ["bomb"], tmp_path / "out", largest=999_999)
    assert not (tmp_path / "out").exists()
    extract(archive, ["bomb"], tmp_path / "out", largest=1_000_000)
    assert files(tmp_path / "out") == {"bomb": bytes(1_000_000)}


@pytest.mark.parametrize("name", KINDS)
def test_a_bomb_that_nobody_wants_is_not_read_over(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name, {"bomb": bytes(1_000_000), **MEMBERS})
    with pytest.raises(UserError, match="bomb has 1,000,000 bytes, more than the 999,999 that are allowed"):
        extract(archive, ["top.en"], tmp_path / "out", largest=999_999)


def test_a_zip_that_lies_about_a_size_writes_no_more_than_it_declares(tmp_path: Path) -> None:
    archive = archived(tmp_path, "a.zip", {"bomb": bytes(1_000_000)})
    content = archive.read_bytes().replace((1_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    archive.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.zip: damaged or cut short"):
        extract(archive, ["bomb"], tmp_path / "out", largest=1000)
    assert files(tmp_path / "out") == {}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd"])
def test_a_name_of_elsewhere_is_never_written_though_it_is_asked_for(tmp_path: Path, target: str) -> None:
    for name in KINDS:
        archive = archived(tmp_path / name, name, {target: b"evil"})
        with pytest.raises(UserError, match="a path that stays in its folder"):
            extract(archive, [target], tmp_path / name / "out")
        assert not (tmp_path / name / "out").exists()


@settings(deadline=None, max_examples=40)
@given(name=st.sampled_from(KINDS), share=st.floats(0, 1, exclude_max=True), member=st.sampled_from(sorted(MEMBERS)))
def test_of_a_cut_archive_whole_members_come_out_or_an_error_that_names_it(
    name: str, share: float, member: str
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        archive, out = archived(Path(temporary), name), Path(temporary, "out")
        archive.write_bytes(archive.read_bytes()[: int(share * archive.stat().st_size)])
        try:
            extract(archive, [member], out)
        except UserError as error:
            named, expected = str(error).startswith(f"{archive}: "), {}
        else:
            named, expected = True, {member: MEMBERS[member]}
        assert named
        assert files(out) == expected


@pytest.mark.parametrize("name", KINDS)
def test_an_archive_cut_within_the_member_is_called_damaged(tmp_path: Path, name: str) -> None:
    archive = archived(tmp_path, name)
    archive.write_bytes(archive.read_bytes()[:200_000])
    with pytest.raises(UserError, match=rf"{name}: damaged or cut short \(.+\); remove it and fetch it again"):
        extract(archive, ["training/v9.de-en.de"], tmp_path / "out")


def test_a_zip_whose_bytes_are_wrong_is_called_damaged(tmp_path: Path) -> None:
    archive = archived(tmp_path, "a.zip", {"top.en": b"one\n" * 1000})
    data = bytearray(archive.read_bytes())
    data[data.index(b"top.en") + len("top.en") + 10] ^= 0xFF
    archive.write_bytes(bytes(data))
    with pytest.raises(UserError, match=r"a\.zip: damaged or cut short"):
        extract(archive, ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {}


def test_without_room_nothing_stays_and_the_error_says_what_is_lacking(tmp_path: Path) -> None:
    """The kernel stops every file at 100 kB, as it does at a disk's end."""
    archive, out = archived(tmp_path, "a.tgz"), tmp_path / "out"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(
            UserError, match=r"v9\.de-en\.de: File too large: 300,000 more bytes are needed, [\d,]+ are"
        ):
            extract(archive, ["training/v9.de-en.de"], out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((out / "training").iterdir()) == []
    extract(archive, ["training/v9.de-en.de"], out)
    assert files(out) == {"training/v9.de-en.de": NOISE}


def test_a_leading_dot_is_no_part_of_a_members_name(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        info = tarfile.TarInfo("./top.en")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"one\n"))
    extract(tmp_path / "a.tgz", ["top.en"], tmp_path / "out")
    assert files(tmp_path / "out") == {"top.en": b"one\n"}
