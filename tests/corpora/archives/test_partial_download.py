import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from texts.archive_server import ArchiveServer
from texts.single_archive import CONTENT, SIZE, downloaded, packing

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.archives.download import download
from realformer_nmt.corpora.archives.partial_download import Partial


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file can grow over a megabyte: the kernel says EFBIG, as it says ENOSPC when a disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    yield 1 << 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_without_room_the_part_stays_and_the_error_says_what_is_lacking(
    server: ArchiveServer, tmp_path: Path, small_files: int
) -> None:
    with pytest.raises(
        UserError, match=r"a\.tgz: File too large: [\d,]+ more bytes are needed, [\d,]+ are free; "
    ) as full:
        download(packing(server), tmp_path)
    needed = int(str(full.value).split("large: ")[1].split(" ")[0].replace(",", ""))
    assert SIZE - small_files <= needed <= SIZE
    assert "what has come stays in a.tgz.part" in str(full.value)
    assert (tmp_path / "a.tgz.part").read_bytes() == CONTENT[:small_files]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    download(packing(server), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, small_files]


def test_two_processes_do_not_write_into_one_another(server: ArchiveServer, tmp_path: Path) -> None:
    with (
        Partial(tmp_path / "a.tgz", "sha256", SIZE),
        pytest.raises(UserError, match=r"a\.tgz\.part: another process is downloading it"),
    ):
        download(packing(server), tmp_path)
    assert server.requests == []


def test_a_download_is_not_written_where_a_link_leads(server: ArchiveServer, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "a.tgz.part").symlink_to("other")
    with pytest.raises(UserError, match=r"a\.tgz\.part: Too many levels of symbolic links"):
        download(packing(server), tmp_path)
    assert (tmp_path / "other").read_text() == "kept"


def test_a_folder_that_cannot_be_written_is_named(server: ArchiveServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file: (File exists|Not a directory); fix that"):
        download(packing(server), tmp_path / "file")
