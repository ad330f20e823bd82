"""HTTP connections on which every complete request is answered, and every answer can be read.

uvicorn closes a connection when the client shuts down its side, shutdown(SHUT_WR), before its request is answered. It
also closes while a body that is too large still arrives, which resets the connection before the 413 is read. It waits
without end for the rest of a request's head. And when the server ends, it drops requests that were sent behind another.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from realformer_nmt.serving.http_errors import late

LINGERING = 30  # seconds in which the rest of a body is read and dropped, as nginx does
PRESENT = 0.5  # seconds between checks that a client that has stopped sending is still connected
CONTINUE = h11.InformationalResponse(status_code=100, headers=[])


class Exchange(H11Protocol):
    """uvicorn's protocol of requests and answers, changed where it drops a request or answers it twice."""

    ending = False  # whether the server ends

    def shutdown(self) -> None:
        """End the connection as uvicorn does, but first answer pipelined requests."""
        self.ending = True
        more, _ = self.conn.trailing_data
        if not more or self.cycle is None or self.cycle.response_complete:
            super().shutdown()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.ending and not self.transport.is_closing():
            self.shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, and end the work on it, which uvicorn lets wait for the rest of the body."""
        super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = self.cycle.response_complete = True
            self.cycle.message_event.set()

    def _unsupported_upgrade_warning(self) -> None:
        """Print nothing: uvicorn advises to install a library for WebSocket, which this server does not offer."""


class Connection(asyncio.Protocol):
    """Protocol for the event loop that forwards to uvicorn's h11 protocol, even if httptools is installed."""

    def __init__(self, seconds: float, **options: Any) -> None:
        self.http = Exchange(**options)
        self.seconds = seconds  # in which the head of a request arrives
        self.head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = Lingering(transport, self.http)
        self.http.connection_made(self.transport)
        self.time_head()

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.http.data_received(data)
            self.time_head()

    def time_head(self) -> None:
        """Give a head that is not complete its time; uvicorn ends a connection that is idle after an answer."""
        if self.http.conn.their_state is not h11.IDLE:
            self.stop_timing()
        elif self.head is None:
            self.head = self.http.loop.call_later(self.seconds, self.refuse_head)

    def stop_timing(self) -> None:
        if self.head is not None:
            self.head.cancel()
            self.head = None

    def refuse_head(self) -> None:
        """Answer 408 where a part of a head has arrived, and close."""
        conn, answer = self.http.conn, late(self.seconds).response()
        if conn.trailing_data[0] and not self.transport.is_closing():
            start = h11.Response(status_code=answer.status_code, headers=answer.raw_headers)
            for event in (start, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(conn.send(event) or b"")
        self.transport.close()

    def eof_received(self) -> bool:
        """Return whether the connection stays open for an answer."""
        cycle = self.http.cycle
        if self.transport.is_closing() or cycle is None or cycle.response_complete or cycle.more_body:
            return False
        more, _ = self.http.conn.trailing_data  # pipelined requests
        cycle.keep_alive = bool(more)
        self.http.loop.call_later(PRESENT, self.probe)
        return True

    def probe(self) -> None:
        """Send 100 Continue: a client that has closed answers with a reset, one that waits ignores it."""
        if self.transport.is_closing():
            return
        if self.http.cycle.response_complete:
            self.transport.close()
            return
        if self.http.conn.our_state is h11.SEND_RESPONSE and self.http.scope["http_version"] != "1.0":
            self.transport.write(self.http.conn.send(CONTINUE) or b"")
        self.http.loop.call_later(PRESENT, self.probe)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_timing()
        self.transport.lost()
        self.http.connection_lost(exc)

    def pause_writing(self) -> None:
        self.http.pause_writing()

    def resume_writing(self) -> None:
        self.http.resume_writing()


class Lingering(asyncio.Transport):
    """Transport that closes at once if all was read, and otherwise when the client has read the answer."""

    def __init__(self, socket: Any, http: H11Protocol) -> None:
        super().__init__()
        self.socket, self.http = socket, http
        self.end: asyncio.TimerHandle | None = None

    def close(self) -> None:
        if (
            self.end is None
            and self.http.conn.their_state in (h11.SEND_BODY, h11.ERROR)
            and self.socket.can_write_eof()
        ):
            self.end = self.http.loop.call_later(LINGERING, self.socket.close)
            self.socket.write_eof()
            self.socket.resume_reading()
        else:
            self.socket.close()

    def lost(self) -> None:
        if self.end is not None:
            self.end.cancel()

    def is_closing(self) -> bool:
        return self.end is not None or bool(self.socket.is_closing())

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.socket.get_extra_info(name, default)

    def write(self, data: Any) -> None:
        self.socket.write(data)

    def pause_reading(self) -> None:
        self.socket.pause_reading()

    def resume_reading(self) -> None:
        self.socket.resume_reading()
