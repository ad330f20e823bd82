"""Minimum rate of a download: bytes of the file per span of time, counted from the first byte of the response on.

The timeouts of urllib and http.client notice silence alone: a byte a second, endless headers or endless trailers would
keep a download waiting for ever. Here every read from the socket, headers included, checks the rate of the file.
"""

import io
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any


class SlowError(TimeoutError):
    """Timeout of a server that sends less than the minimum rate."""


@dataclass
class Pace:
    seconds: float
    least: int  # bytes of the file per span of `seconds`
    clock: Callable[[], float] = time.monotonic
    received: int = 0  # bytes of the file in this span
    span_start: float = field(init=False)

    def __post_init__(self) -> None:
        self.span_start = self.clock()

    def check(self) -> None:
        """Raise SlowError at the end of a span with too few bytes, else begin the next span."""
        now = self.clock()
        if now - self.span_start < self.seconds:
            return
        if self.received < self.least:
            raise SlowError(
                f"the server sent {self.received:,} bytes in {now - self.span_start:.0f} s: less than {self.least:,}"
            )
        self.span_start, self.received = now, 0


class PacedResponse(HTTPResponse):
    """A response whose every read checks the pace; its reader adds the bytes of the file to `pace.received`."""

    def __init__(self, sock: socket.socket, *args: Any, pace: Pace, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.pace = pace
        self.fp = io.BufferedReader(_Watched(self.fp.detach(), pace))


class _Watched(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, pace: Pace) -> None:
        self._raw, self._pace = raw, pace

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        size: int | None = self._raw.readinto(buffer)
        self._pace.check()
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()
