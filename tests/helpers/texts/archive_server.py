"""A real HTTP server on 127.0.0.1 that serves a folder, with Range, and with the faults that servers have.

with ArchiveServer(folder) as server:
    server.faults["/a.tgz"] = iter([Fault(cut_after=1000), Fault(status=503)])  # one a request, then none
    ...
    assert server.starts("/a.tgz") == [None, 1000, 1000]
"""

import functools
import http.server
import itertools
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Fault:
    status: int | None = None  # instead of the file
    location: str | None = None  # redirect
    cut_after: int | None = None  # so many bytes, then the connection is closed
    stall_after: int | None = None  # so many bytes, then silence
    ranges: bool = True  # False: Range is ignored
    damage: bool = False  # the first byte sent is another
    surplus: int = 0  # bytes after the end, without a Content-Length
    encoding: str | None = None  # a Content-Encoding that the bytes do not need undone
    reason: str | None = None  # beside the status


@dataclass
class Request:
    path: str
    start: int | None  # of its Range
    agent: str
    sent: int = 0  # bytes of the file


@dataclass
class ArchiveServer:
    folder: Path
    faults: dict[str, Iterator[Fault]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.closing = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(ArchiveHandler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ArchiveServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=60)

    def always(self, path: str, fault: Fault) -> None:
        self.faults[path] = itertools.repeat(fault)

    def starts(self, path: str) -> list[int | None]:
        """The first byte that each request for the path asked for."""
        return [request.start for request in self.requests if request.path == path]

    def sent(self, path: str) -> int:
        return sum(request.sent for request in self.requests if request.path == path)

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for request in self.requests:
            counts[request.path] += 1
        return dict(counts)


class ArchiveHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, archives: ArchiveServer, *connection: Any) -> None:
        self.archives = archives
        super().__init__(*connection)  # which answers the request

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        byte_range = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first_byte = int(byte_range[1]) if byte_range else None
        request = Request(path, first_byte, self.headers.get("User-Agent", ""))
        self.archives.requests.append(request)
        fault = next(self.archives.faults.get(path, iter(())), Fault())
        file = self.archives.folder / path.lstrip("/")
        if fault.status or fault.location or not file.is_file():
            self.say(fault.status or (302 if fault.location else 404), fault.reason, Location=fault.location)
            return
        content = file.read_bytes()
        start = first_byte if first_byte is not None and fault.ranges else None
        if start is not None and start >= len(content):
            self.say(416, Content_Range=f"bytes */{len(content)}")
            return
        self.send_file(content, start, fault, request)

    def send_file(self, content: bytes, start: int | None, fault: Fault, request: Request) -> None:
        body = content[start or 0 :]
        if fault.damage:
            body = bytes([body[0] ^ 1]) + body[1:]
        body += bytes(fault.surplus)
        span = None if start is None else f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.close_connection = True
        self.headed(
            200 if span is None else 206,
            Content_Length=None if fault.surplus else str(len(body)),
            Content_Range=span,
            Content_Encoding=fault.encoding,
            Connection="close",
        )
        most = next((after for after in (fault.cut_after, fault.stall_after) if after is not None), len(body))
        request.sent = len(body[:most])
        self.wfile.write(body[:most])
        self.wfile.flush()
        if fault.stall_after is not None:
            self.archives.closing.wait(60)

    def say(self, status: int, reason: str | None = None, **headers: str | None) -> None:
        self.headed(status, reason, Content_Length="0", **headers)

    def headed(self, status: int, reason: str | None = None, **headers: str | None) -> None:
        self.send_response(status, reason)
        for name, value in headers.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        """Say nothing."""
