"""Middleware around the whole server: allowed hosts, size of requests, security headers of answers."""

import asyncio
import re
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from realformer_nmt.common.terminal import printable
from realformer_nmt.serving.http_errors import RefusalError, disconnected, late
from realformer_nmt.serving.limits import Limits

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
PORT = re.compile(r":\d*$")


class Guard:
    """ASGI middleware that checks requests before the app gets them.

    A request with a Host header that is not in `hosts` is refused, as it may come from a page whose name was pointed to
    this machine (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Collection[str]) -> None:
        self.app, self.limits = app, limits
        self.hosts = list(dict.fromkeys(name.lower() for name in hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check_host(scope)
            self._check_small(scope)
            body = await self._body(receive)
        except RefusalError as refusal:
            await refusal.response()(scope, receive, send_guarded)
            return
        await self.app(scope, replayed(body, receive), send_guarded)

    def _check_host(self, scope: Scope) -> None:
        values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        host = PORT.sub("", values[0]).lower() if len(values) == 1 else ""
        if host not in self.hosts:
            raise RefusalError(
                421,
                f"{printable(host[:100])!r} is none of this server's names, {', '.join(self.hosts)}: "
                "ask for one of them, or start it with --name",
                {"Connection": "close"},  # its body is not read
            )

    async def _body(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        try:
            await asyncio.wait_for(self._read(receive, parts), self.limits.most_seconds)
        except asyncio.TimeoutError as error:
            raise late(self.limits.most_seconds) from error
        return b"".join(parts)

    async def _read(self, receive: Receive, parts: list[bytes]) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise disconnected()
            part = message.get("body", b"")
            size += len(part)
            more = message.get("more_body", False)
            if size > self.limits.most_bytes:
                raise self._too_large(more)
            parts.append(part)

    def _check_small(self, scope: Scope) -> None:
        """Refuse a body whose announced size is too large, before it is read."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if int(announced) > self.limits.most_bytes:
            raise self._too_large(arriving=True)

    def _too_large(self, arriving: bool) -> RefusalError:
        message = f"the request has more than {self.limits.most_bytes} bytes: send its texts in several"
        return RefusalError(413, message, {"Connection": "close"} if arriving else None)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of the body as one message, then of what the client sends later: that it has disconnected."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
