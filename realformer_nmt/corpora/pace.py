"""How fast an answer has to come: so many bytes of the file in each span of time, from the first byte of its head on.

urllib and http.client know silence alone: a byte a second, endless heads and endless trailers would hold a download for
ever. Here every read from the socket, whatever it is of, asks whether the file has come on.
"""

import io
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any


class SlowError(TimeoutError):
    """The server does not fall silent, and does not come on either."""


@dataclass
class Pace:
    seconds: float
    least: int  # bytes of the file in as many seconds
    clock: Callable[[], float] = time.monotonic
    came: int = 0  # in this span
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def check(self) -> None:
        now = self.clock()
        if now - self.begun < self.seconds:
            return
        if self.came < self.least:
            raise SlowError(
                f"the server sent {self.came:,} bytes in {now - self.begun:.0f} s: less than {self.least:,}"
            )
        self.begun, self.came = now, 0


class PacedResponse(HTTPResponse):
    """`pace.came` is counted by whoever takes bytes of the file from it."""

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
        came: int | None = self._raw.readinto(buffer)
        self._pace.check()
        return came

    def close(self) -> None:
        self._raw.close()
        super().close()
