"""One test per promise of a download, over real HTTP: resumed, checked, complete or not there."""

import hashlib
import http.client
import resource
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from texts.archive_server import ArchiveServer, Fault
from texts.single_archive import CONTENT, SHA256, SIZE, Waits, downloaded, packing

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.archives import download as downloads
from realformer_nmt.corpora.archives.download import UnavailableError, download
from realformer_nmt.corpora.manifest_schema import Packing


def test_a_file_comes_whole_in_one_request(server: ArchiveServer, tmp_path: Path) -> None:
    """Some servers label .tgz files as encoded; what counts are the bytes that the manifest's hash is of."""
    server.always("/a.tgz", Fault(encoding="gzip"))
    assert download(packing(server), tmp_path / "new" / "folder") == tmp_path / "new" / "folder" / "a.tgz"
    assert downloaded(tmp_path / "new" / "folder")
    assert server.starts("/a.tgz") == [None]
    assert server.requests[0].agent.startswith("realformer-nmt/")


def test_a_cut_connection_is_resumed_to_the_byte(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000), Fault(cut_after=0), Fault(cut_after=1 << 16)])
    waits.plan(1, 2)
    download(packing(server), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, 1000, 1000, 1000 + (1 << 16)]
    assert server.sent("/a.tgz") == SIZE
    assert waits.seconds == [1, 2, 1]  # an attempt that got much renews the patience


@pytest.mark.parametrize("size", [SIZE, None])
def test_the_rest_of_an_ended_process_is_resumed(server: ArchiveServer, tmp_path: Path, size: int | None) -> None:
    for have in 777_777, SIZE:
        (tmp_path / "a.tgz.part").write_bytes(CONTENT[:have])
        download(packing(server, size=size), tmp_path)
        assert downloaded(tmp_path)
        assert server.sent("/a.tgz") == SIZE - have
        (tmp_path / "a.tgz").unlink()
        server.requests.clear()


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize("size", [SIZE, None])
@pytest.mark.parametrize("rest", [b"rubbish", bytes(SIZE), bytes(SIZE + 5)])
def test_a_spoilt_rest_is_thrown_away(server: ArchiveServer, tmp_path: Path, rest: bytes, size: int | None) -> None:
    (tmp_path / "a.tgz.part").write_bytes(rest)
    download(packing(server, size=size), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz")[-1] is None


@pytest.mark.usefixtures("waits")
def test_a_server_without_ranges_starts_again(server: ArchiveServer, tmp_path: Path) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000, ranges=False), Fault(ranges=False)])
    download(packing(server), tmp_path)
    assert downloaded(tmp_path)
    assert server.sent("/a.tgz") == 1000 + SIZE


def test_a_file_of_another_length_is_not_begun(server: ArchiveServer, tmp_path: Path) -> None:
    (server.folder / "short.tgz").write_bytes(CONTENT[:1000])
    (tmp_path / "a.tgz.part").write_bytes(CONTENT[:500])
    file = Packing((f"{server.url}/short.tgz", f"{server.url}/a.tgz"), bytes=SIZE, sha256=SHA256, file="a.tgz")
    download(file, tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [500]


def test_more_bytes_than_allowed_are_refused(server: ArchiveServer, tmp_path: Path) -> None:
    server.always("/a.tgz", Fault(surplus=10))
    with pytest.raises(UnavailableError, match=rf"sends more than the {SIZE:,} bytes that are allowed"):
        download(packing(server), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert server.counts() == {"/a.tgz": 1}


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_a_wrong_hash_names_file_expected_and_actual_and_nothing_stays(
    server: ArchiveServer, tmp_path: Path, algorithm: str
) -> None:
    actual = hashlib.new(algorithm, CONTENT, usedforsecurity=False).hexdigest()
    wrong = "0" * len(actual)
    urls = tuple(f"{server.url}/{name}.tgz" for name in ("a", "mirror"))
    with pytest.raises(UnavailableError) as caught:
        download(Packing(urls, bytes=SIZE, **{algorithm: wrong}), tmp_path)
    file = tmp_path / "a.tgz.part"
    assert [*caught.value.args] == [f"{url}: {file}: {algorithm} is {actual}, expected is {wrong}" for url in urls]
    assert list(tmp_path.iterdir()) == []
    assert server.counts() == {"/a.tgz": 1, "/mirror.tgz": 1}


@pytest.mark.parametrize(
    ("fault", "start"),
    [
        (Fault(damage=True), None),
        (Fault(status=404), None),
        (Fault(location="http://[/"), None),
        (Fault(cut_after=9), 9),
    ],
)
def test_a_mirror_goes_on_for_a_server_that_does_not_deliver(
    server: ArchiveServer, tmp_path: Path, waits: Waits, fault: Fault, start: int | None
) -> None:
    server.always("/a.tgz", fault)
    waits.plan()
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path)
    assert downloaded(tmp_path)
    assert server.counts() == {"/a.tgz": 1, "/mirror.tgz": 1}
    assert server.starts("/mirror.tgz") == [start]


def test_a_busy_server_is_asked_again_but_not_for_ever(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(status=503), Fault(status=429)])
    download(packing(server), tmp_path)
    assert (downloaded(tmp_path), waits.seconds) == (True, [1, 2])
    server.always("/a.tgz", Fault(status=503))
    with pytest.raises(UnavailableError, match=r"HTTP status 503, Service Unavailable \(4 attempts\)"):
        download(packing(server), tmp_path / "empty")
    assert waits.seconds == [1, 2, 1, 2, 4]


def test_a_silent_server_is_left(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.always("/a.tgz", Fault(stall_after=1000))
    waits.plan(1, stall=0.2)
    with pytest.raises(UnavailableError, match=r"timed out \(2 attempts\)"):
        download(packing(server), tmp_path)
    waits.plan(stall=0.2)
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path)
    assert downloaded(tmp_path)


@pytest.mark.parametrize(("scheme", "end"), [("https", "http://127.0.0.1/"), ("http", "ftp://127.0.0.1/")])
def test_a_redirection_leaves_neither_https_nor_http(
    server: ArchiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, end: str
) -> None:
    """urllib follows both; here a server of http plays all parts."""
    plain = urllib.request.OpenerDirector.open

    def redirected(opener: urllib.request.OpenerDirector, url: str, **options: float) -> http.client.HTTPResponse:
        response = plain(opener, url.replace("https:", "http:"), **options)
        response.url = end
        return response

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", redirected)
    url = f"{server.url}/a.tgz".replace("http:", f"{scheme}:")
    with pytest.raises(UnavailableError, match=f"redirects to {end}, which is not {scheme}"):
        download(Packing((url,), sha256=SHA256), tmp_path)


def test_what_a_server_says_steers_no_terminal(
    server: ArchiveServer, tmp_path: Path, waits: Waits, capsys: pytest.CaptureFixture[str]
) -> None:
    server.always("/a.tgz", Fault(status=503, reason="\x1b]0;owned\x07\x1b[31mBusy"))
    waits.plan(1)
    with pytest.raises(UnavailableError) as error:
        download(packing(server), tmp_path)
    assert all(line.isprintable() for line in (*error.value.args, *capsys.readouterr().err.splitlines()))


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file can grow over this size: the kernel says EFBIG, as it says ENOSPC when a disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_without_room_the_part_stays_and_the_error_says_what_is_lacking(server: ArchiveServer, tmp_path: Path) -> None:
    lacking = r"a\.tgz\.part: File too large: [\d,]+ more bytes are needed, [\d,]+ are free; what has come stays there"
    with small_files(1 << 20), pytest.raises(UserError, match=lacking):
        download(packing(server), tmp_path)
    assert (tmp_path / "a.tgz.part").read_bytes() == CONTENT[: 1 << 20]
    download(packing(server), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, 1 << 20]


def test_two_processes_do_not_write_into_one_another(server: ArchiveServer, tmp_path: Path) -> None:
    with (
        downloads._partial(tmp_path / "a.tgz.part", SIZE),
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
