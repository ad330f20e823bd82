"""One GET request: the byte at which the answer starts, the length of the file, and whether to retry after a failure.

It uses urllib, which returns the bytes as they were sent. requests and httpx undo a Content-Encoding, which some
servers put on .tgz files, so that length, Range and hash would no longer match.
"""

import contextlib
import http.client
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import urlsplit

from realformer_nmt.common.files.atomic_files import CHUNK
from realformer_nmt.common.terminal import printable
from realformer_nmt.common.version import VERSION
from realformer_nmt.corpora.archives.minimum_rate import Pace, PacedResponse, SlowError

WORTH_A_RETRY = {408, 425, 429, 500, 502, 503, 504}
FAULTS = (OSError, http.client.HTTPException, ValueError, OverflowError)  # the last two for invalid URLs
HOPELESS = (ssl.SSLCertVerificationError, http.client.InvalidURL, ValueError, OverflowError)
NUMBER = "[0-9]{1,18}"


class TransferError(Exception):
    """Failure of one request, for the message that lists every URL; its text may come from the server."""

    def __init__(self, wrong: str) -> None:
        super().__init__(printable(wrong))


class PermanentError(TransferError):
    """Failure that another attempt would meet again."""


class CutError(TransferError):
    """Failure that another attempt may not meet."""


class MisplacedError(TransferError):
    """Answer with another range than the request's."""


@dataclass(frozen=True)
class RangeAnswer:
    start: int  # offset of the first byte in the file
    length: int | None  # the length of the file, if the server sends it
    chunks: Iterable[bytes]


@contextlib.contextmanager
def get(url: str, start: int, pace: Callable[[], Pace]) -> Iterator[RangeAnswer]:
    """Request everything from byte `start` on; each redirect's response gets a new pace."""
    opener = urllib.request.build_opener(Redirects(), Paced(pace))
    headers = [("Range", f"bytes={start}-")] if start else []
    opener.addheaders = [("User-Agent", f"realformer-nmt/{VERSION}"), *headers]
    try:
        response = opener.open(url, timeout=pace().seconds)
    except urllib.error.HTTPError as error:
        with contextlib.closing(error):
            yield _refusal(error, start)
        return
    except FAULTS as error:
        raise _failure(error) from error
    with response:
        yield _answer(response, start)


class Paced(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    def __init__(self, pace: Callable[[], Pace]) -> None:
        super().__init__()
        self._pace = pace

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connect(http.client.HTTPConnection), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connect(http.client.HTTPSConnection), req)

    def _connect(self, kind: type[http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
        def connect(*args: Any, **kwargs: Any) -> http.client.HTTPConnection:
            connection: Any = kind(*args, **kwargs)
            connection.response_class = lambda *args, **kwargs: PacedResponse(*args, pace=self._pace(), **kwargs)
            return cast(http.client.HTTPConnection, connection)

        return connect


class Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = {"https"} if urlsplit(req.full_url).scheme == "https" else {"http", "https"}
        if urlsplit(newurl).scheme not in allowed:
            raise PermanentError(f"redirects to {newurl}, which is not {' or '.join(sorted(allowed))}")
        fp.close()  # otherwise its whole body would be read
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refusal(error: urllib.error.HTTPError, start: int) -> RangeAnswer:
    """Raise for an error status, except 416: the file has no byte `start`, so the bytes on disk may be all of it."""
    if error.code == 416 and start:
        unsatisfied = re.fullmatch(rf"bytes \*/({NUMBER})", error.headers.get("Content-Range", ""))
        return RangeAnswer(start, int(unsatisfied[1]) if unsatisfied else None, ())
    kind = CutError if error.code in WORTH_A_RETRY else PermanentError
    raise kind(f"HTTP status {error.code}, {error.reason}") from error


def _answer(response: PacedResponse, start: int) -> RangeAnswer:
    chunks = _chunks(response)
    if response.status != 206:  # the server ignores Range and sends everything
        length = response.headers.get("Content-Length", "")
        return RangeAnswer(0, int(length) if re.fullmatch(NUMBER, length) else None, chunks)
    written = response.headers.get("Content-Range", "")
    sent_range = re.fullmatch(rf"bytes ({NUMBER})-({NUMBER})/({NUMBER}|\*)", written)
    if sent_range is None or int(sent_range[1]) != start:
        raise MisplacedError(f"was asked for bytes from {start} on and answered with Content-Range {written!r}")
    return RangeAnswer(start, None if sent_range[3] == "*" else int(sent_range[3]), chunks)


def _chunks(response: PacedResponse) -> Iterator[bytes]:
    try:
        while chunk := response.read1(CHUNK):  # what has arrived, so that a cut loses nothing
            response.pace.received += len(chunk)
            yield chunk
    except FAULTS as error:
        raise _failure(error) from error


def _failure(error: Exception) -> TransferError:
    reason = getattr(error, "reason", error)  # URLError wraps the cause
    if isinstance(reason, TimeoutError) and not isinstance(reason, SlowError):
        return CutError("the server stopped sending")
    kind = PermanentError if isinstance(reason, HOPELESS) else CutError
    return kind(str(reason) or type(reason).__name__)
