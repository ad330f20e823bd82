import io
from http.client import HTTPMessage
from pathlib import Path
from urllib.request import Request

import pytest
from texts.archive_server import ArchiveServer, Fault
from texts.single_archive import CONTENT, SIZE, Waits, downloaded, packing

from realformer_nmt.corpora.archives import http_range, minimum_rate
from realformer_nmt.corpora.archives.download import UnavailableError, download
from realformer_nmt.corpora.archives.http_range import PermanentError


@pytest.mark.parametrize(
    "written", ["", f"bytes 0-{SIZE - 1}/{SIZE}", f"bytes 7-{SIZE - 1}/{SIZE}", "bytes */5", "rubbish"]
)
def test_a_wrong_content_range_is_not_believed(
    server: ArchiveServer, tmp_path: Path, waits: Waits, written: str
) -> None:
    (tmp_path / "a.tgz.part").write_bytes(CONTENT[:5])
    server.faults["/a.tgz"] = iter([Fault(content_range=written)])
    download(packing(server), tmp_path, waits.patience())
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [5, None]


def test_content_encoding_is_not_undone(server: ArchiveServer, tmp_path: Path) -> None:
    """Some servers label .tgz files so; what counts are the bytes that the manifest's hash is of."""
    server.always("/a.tgz", Fault(encoding="gzip"))
    download(packing(server), tmp_path)
    assert downloaded(tmp_path)


def test_redirects_are_followed_but_never_out_of_http(server: ArchiveServer, tmp_path: Path) -> None:
    (tmp_path / "a.tgz.part").write_bytes(CONTENT[:10])
    server.faults["/moved/a.tgz"] = iter([Fault(location="/a.tgz")])
    download(packing(server, "/moved/a.tgz"), tmp_path)
    assert downloaded(tmp_path)
    assert server.starts("/a.tgz") == [10]
    server.always("/moved/a.tgz", Fault(location=(server.folder / "a.tgz").as_uri()))
    with pytest.raises(UnavailableError, match="file://"):
        download(packing(server, "/moved/a.tgz"), tmp_path / "empty")


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [("http", "http", True), ("http", "https", True), ("https", "https", True), ("https", "http", False)],
)
def test_https_is_never_left(old: str, new: str, allowed: bool) -> None:
    request = Request("https://localhost/a.tgz") if old == "https" else Request("http://localhost/a.tgz")

    def redirect() -> Request | None:
        return http_range.Redirects().redirect_request(
            request, io.BytesIO(), 302, "", HTTPMessage(), f"{new}://other/a"
        )

    if allowed:
        assert redirect() is not None
    else:
        with pytest.raises(PermanentError, match="redirects to http://other/a, which is not https"):
            redirect()


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {  # what never comes to an end, and is sent as fast as can be
    "heads before the head": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "head": (HEAD, b"X: y\r\n"),
    "line of the head": (HEAD, b"X"),
    "status": (b"HTTP/1.1 200 ", b"X"),
    "size of a chunk": (CHUNKED, b"0"),
    "note of a chunk": (CHUNKED + b"4;", b"x"),
    "trailer": (CHUNKED + b"0\r\n", b"X: y\r\n"),
    "body of a redirection": (b"HTTP/1.1 302 \r\nLocation: /lost\r\n\r\n", b"x" * 1000),
    "body of a refusal": (b"HTTP/1.1 404 \r\n\r\n", b"x" * 1000),
    "body": (HEAD + b"\r\n", b"x" * 1000),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_nothing_endless_holds_a_download(server: ArchiveServer, tmp_path: Path, waits: Waits, what: str) -> None:
    server.always("/a.tgz", Fault(endless=ENDLESS[what]))
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path, waits.hurried(server))
    assert downloaded(tmp_path)
    assert server.counts()["/a.tgz"] <= 2


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"\r\n", CHUNKED, b"HTTP/1.1 302 \r\nLocation: /lost\r\nX: "],
)
def test_a_byte_a_second_is_a_stall(server: ArchiveServer, tmp_path: Path, waits: Waits, answer: bytes) -> None:
    """The stall is within the head, or in the file itself."""
    server.always("/a.tgz", Fault(endless=(answer, b"1"), slow=True))
    with pytest.raises(UnavailableError, match=r"the server sent [\d,]+ bytes in 60 s: .* \(2 attempts\)"):
        download(packing(server), tmp_path, waits.hurried(server))
    assert server.counts() == {"/a.tgz": 2}
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path, waits.hurried(server))
    assert downloaded(tmp_path)


def test_a_span_with_enough_bytes_is_followed_by_another() -> None:
    times = iter([0, 59, 60, 119, 120])
    span = minimum_rate.Pace(60, 100, clock=lambda: next(times))
    span.check()
    span.received = 100
    span.check()
    span.received = 99
    span.check()
    with pytest.raises(TimeoutError, match="99 bytes in 60 s: less than 100"):
        span.check()


LOCATIONS = [
    "http://[::1/",
    "http://[",
    "http://host:99999/",
    "http://host:x/",
    "http://" + "a" * 70 + "/",
    "http:///x",
]
LOCATIONS += [
    "http://\u00e9\u202e/",
    "//[::1",
    "http://a b/",
    "http://127.0.0.1:0/",
    "gopher://x/",
    "data:,x",
    "ftp://x/",
]


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_redirection_to_no_address_leads_to_the_mirror(
    server: ArchiveServer, tmp_path: Path, waits: Waits, location: str
) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    server.always("/a.tgz", Fault(endless=(head, b"")))
    download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path, waits.patience(()))
    assert downloaded(tmp_path)
    server.always("/mirror.tgz", Fault(location="/mirror.tgz"))
    with pytest.raises(UnavailableError, match=r"(?s)a\.tgz: .*infinite loop") as error:
        download(packing(server, "/a.tgz", "/mirror.tgz"), tmp_path / "empty", waits.patience(()))
    assert all(reason.isprintable() for reason in error.value.reasons)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 404 \x1b]0;owned\x07\x1b[31mNot\rFound\r\n",
        b"HTTP/1.1 302 \r\nLocation: gopher://\x1b[2J\xe2\x80\xaex/\r\n",
        b"HTTP/1.1 302 \r\nLocation: gopher://x/\r\n \x1b[2Jfolded\r\n",
        b"HTTP/1.1 206 \r\nContent-Range: \x1b[2J\r\n",
        b"HTTP/1.1 2\x1b[2J \r\n",
        b"HTTP/9\x1b[2J 200 \r\n",
        b"\x1b[2J\r\n",
    ],
)
def test_what_a_server_says_steers_no_terminal(
    server: ArchiveServer, tmp_path: Path, waits: Waits, head: bytes
) -> None:
    server.always("/a.tgz", Fault(endless=(head + b"Content-Length: 0\r\n\r\n", b"")))
    with pytest.raises(UnavailableError) as error:
        download(packing(server), tmp_path, waits.patience(()))
    assert all(reason.isprintable() for reason in error.value.reasons)


@pytest.mark.parametrize("length", ["9" * 5000, "-5", "1e9", "\u0663", "0x10", "", str(1 << 40)])
def test_a_length_that_cannot_be_is_not_believed(
    server: ArchiveServer, tmp_path: Path, waits: Waits, length: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()
    server.always("/a.tgz", Fault(endless=(head, b"")))
    download(packing(server, "/a.tgz", "/mirror.tgz", size=None), tmp_path, waits.patience((), stall=0.2))
    assert downloaded(tmp_path)
