import io
from http.client import HTTPMessage
from pathlib import Path
from urllib.request import Request

import pytest
from archive_server import ArchiveServer, Fault
from single_archive import CONTENT, SIZE, Waits, downloaded, packing

from realformer_nmt.corpora import response
from realformer_nmt.corpora.download import UnavailableError, download
from realformer_nmt.corpora.response import RefusedError


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
    asked = Request("https://localhost/a.tgz") if old == "https" else Request("http://localhost/a.tgz")

    def redirect() -> Request | None:
        return response.Redirects().redirect_request(asked, io.BytesIO(), 302, "", HTTPMessage(), f"{new}://other/a")

    if allowed:
        assert redirect() is not None
    else:
        with pytest.raises(RefusedError, match="redirects to http://other/a, which is not https"):
            redirect()
