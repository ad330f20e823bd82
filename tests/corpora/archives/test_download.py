import hashlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts.archive_server import ArchiveServer, Fault
from texts.single_archive import CONTENT, SHA256, SIZE, Waits, downloaded, packing

from realformer_nmt.corpora.archives.download import UnavailableError, download
from realformer_nmt.corpora.manifest_schema import Packing

WRONG = "0" * 64


def test_a_file_comes_whole_in_one_request(server: ArchiveServer, tmp_path: Path) -> None:
    assert download(packing(server), tmp_path / "new" / "folder") == tmp_path / "new" / "folder" / "a.tgz"
    assert downloaded(tmp_path / "new" / "folder")
    assert server.starts("/a.tgz") == [None]
    assert server.requests[0].agent.startswith("realformer-nmt/")


def test_a_cut_connection_is_resumed_to_the_byte(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000), Fault(cut_after=0), Fault(cut_after=500_000)])
    download(packing(server), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, 1000, 1000, 501_000]
    assert server.sent("/a.tgz") == SIZE
    assert waits.seconds == [1, 2, 4]


@settings(deadline=None, max_examples=25)
@given(cuts=st.lists(st.integers(0, SIZE), max_size=4), with_size=st.booleans())
def test_wherever_it_is_cut_each_byte_is_sent_once(
    shared_server: ArchiveServer, cuts: list[int], with_size: bool
) -> None:
    shared_server.requests.clear()
    shared_server.faults["/a.tgz"] = iter([Fault(cut_after=cut) for cut in cuts])
    with tempfile.TemporaryDirectory() as folder:
        file = packing(shared_server, size=SIZE if with_size else None)
        download(file, Path(folder), Waits().patience((1, 1, 1, 1)))
        assert downloaded(Path(folder))
    assert shared_server.sent("/a.tgz") == SIZE


@pytest.mark.parametrize("size", [SIZE, None])
@pytest.mark.parametrize("have", [1, 777_777, SIZE - 1])
def test_what_an_ended_process_left_is_gone_on_with(
    server: ArchiveServer, tmp_path: Path, have: int, size: int | None
) -> None:
    (tmp_path / "a.tgz.part").write_bytes(CONTENT[:have])
    download(packing(server, size=size), tmp_path)
    assert downloaded(tmp_path)
    assert (server.starts("/a.tgz"), server.sent("/a.tgz")) == ([have], SIZE - have)


def test_all_of_it_but_not_yet_renamed_is_not_sent_again(server: ArchiveServer, tmp_path: Path) -> None:
    for size, starts in (SIZE, []), (None, [SIZE]):  # with an unknown size the server says that there is no more
        (tmp_path / "a.tgz.part").write_bytes(CONTENT)
        download(packing(server, size=size), tmp_path)
        assert downloaded(tmp_path)
        assert (server.starts("/a.tgz"), server.sent("/a.tgz")) == (starts, 0)
        (tmp_path / "a.tgz").unlink()


@pytest.mark.parametrize("size", [SIZE, None])
@pytest.mark.parametrize("rest", [b"rubbish", bytes(SIZE), bytes(SIZE + 5)])
def test_a_spoilt_rest_is_thrown_away(
    server: ArchiveServer, tmp_path: Path, waits: Waits, rest: bytes, size: int | None
) -> None:
    (tmp_path / "a.tgz.part").write_bytes(rest)
    download(packing(server, size=size), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz")[-1] is None


def test_a_server_without_ranges_starts_again(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000, ranges=False), Fault(ranges=False)])
    download(packing(server), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, 1000]
    assert server.sent("/a.tgz") == 1000 + SIZE


def test_a_file_of_another_length_is_not_even_begun(server: ArchiveServer, tmp_path: Path) -> None:
    (server.folder / "short.tgz").write_bytes(CONTENT[:1000])
    (tmp_path / "a.tgz.part").write_bytes(CONTENT[:500])
    file = Packing((f"{server.url}/short.tgz", f"{server.url}/a.tgz"), bytes=SIZE, sha256=SHA256, file="a.tgz")
    download(file, tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [500]


def test_more_bytes_than_declared_are_refused(server: ArchiveServer, tmp_path: Path) -> None:
    server.always("/a.tgz", Fault(surplus=10))
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path)
    assert downloaded(tmp_path)
    server.requests.clear()
    with pytest.raises(UnavailableError, match=rf"sends more than the {SIZE:,} bytes that are expected"):
        download(packing(server), tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []
    assert server.counts() == {"/a.tgz": 1}


def test_a_wrong_hash_names_file_expected_and_found_and_nothing_stays(server: ArchiveServer, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        download(packing(server, "/a.tgz", "/mirror.tgz", sha256=WRONG), tmp_path)
    for url, reason in zip(("/a.tgz", "/mirror.tgz"), caught.value.reasons, strict=True):
        mismatch = f"a.tgz: sha256 of the {SIZE:,} bytes is {SHA256}, expected is {WRONG}"
        assert reason == f"{server.url}{url}: {mismatch}"
    assert list(tmp_path.iterdir()) == []
    assert server.counts() == {"/a.tgz": 1, "/mirror.tgz": 1}


def test_a_damaged_copy_is_replaced_by_the_mirrors(server: ArchiveServer, tmp_path: Path) -> None:
    server.always("/a.tgz", Fault(damage=True))
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/mirror.tgz") == [None]


def test_after_a_spoilt_rest_a_url_gets_one_chance_to_send_all_of_it(
    server: ArchiveServer, tmp_path: Path, waits: Waits
) -> None:
    (tmp_path / "a.tgz.part").write_bytes(b"rubbish")
    server.always("/a.tgz", Fault(damage=True))
    with pytest.raises(UnavailableError, match="expected is"):
        download(packing(server), tmp_path, waits.patience())
    assert (server.starts("/a.tgz"), waits.seconds) == ([7, None], [1])
    assert list(tmp_path.iterdir()) == []


def test_md5_serves_where_no_sha256_is_known(server: ArchiveServer, tmp_path: Path) -> None:
    md5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
    download(Packing((f"{server.url}/a.tgz",), md5=md5), tmp_path)
    assert downloaded(tmp_path)
    with pytest.raises(UnavailableError, match=f"a.tgz: md5 of the .* is {md5}, expected is {'0' * 32}"):
        download(Packing((f"{server.url}/a.tgz",), md5="0" * 32), tmp_path / "empty")


def test_404_leads_to_the_mirror_at_once(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    download(packing(server, "/lost/a.tgz", "/mirror.tgz"), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert (server.counts(), waits.seconds) == ({"/lost/a.tgz": 1, "/mirror.tgz": 1}, [])


def test_the_mirror_goes_on_where_the_first_server_stopped(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000), Fault(status=403)])
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert server.starts("/mirror.tgz") == [1000]


def test_a_busy_server_is_asked_again_but_not_for_ever(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(status=503), Fault(status=429)])
    download(packing(server), tmp_path, waits.patience())
    assert (downloaded(tmp_path), waits.seconds) == (True, [1, 2])
    server.always("/a.tgz", Fault(status=503))
    with pytest.raises(UnavailableError, match=r"HTTP status 503, Service Unavailable \(4 attempts\)"):
        download(packing(server), tmp_path / "empty", waits.patience())
    assert waits.seconds == [1, 2, 1, 2, 4]


def test_patience_is_renewed_by_progress(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(cut_after=0), Fault(cut_after=1 << 20), Fault(cut_after=0)])
    download(packing(server), tmp_path, waits.patience((1, 2)))
    assert downloaded(tmp_path)
    assert waits.seconds == [1, 1, 2]


def test_a_silent_server_is_left(server: ArchiveServer, tmp_path: Path, waits: Waits) -> None:
    server.faults["/a.tgz"] = iter([Fault(stall_after=1000)])
    download(packing(server), tmp_path, waits.patience(stall=0.2))
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [None, 1000]
    server.always("/a.tgz", Fault(stall_after=0))
    with pytest.raises(UnavailableError, match=r"the server stopped sending \(2 attempts\)"):
        download(packing(server), tmp_path / "empty", waits.patience((1,), stall=0.1))


def test_a_server_that_is_not_there_is_named(tmp_path: Path, waits: Waits) -> None:
    nowhere = Packing(("http://127.0.0.1:9/a.tgz",), sha256=SHA256)
    with pytest.raises(UnavailableError, match=r"http://127\.0\.0\.1:9/a\.tgz: .*refused \(4 attempts\)"):
        download(nowhere, tmp_path, waits.patience())
    assert list(tmp_path.iterdir()) == []
