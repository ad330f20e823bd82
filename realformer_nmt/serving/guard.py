"""Around all of the server: whom it answers, how much it reads, what a browser may do with its answers."""

import asyncio
import re
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from realformer_nmt.common.terminal import printable
from realformer_nmt.serving.limits import Limits
from realformer_nmt.serving.refusals import RefusedError

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
    """Hosts are the names under which the server is asked for: a page of another name, whose address was turned to this
    machine (DNS rebinding), is refused."""

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
            self._demand_host(scope)
            self._demand_small(scope)
            body = await self._body(receive)
        except RefusedError as refusal:
            await refusal.response()(scope, receive, send_guarded)
            return
        await self.app(scope, again(body, receive), send_guarded)

    def _demand_host(self, scope: Scope) -> None:
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        name = PORT.sub("", given[0]).lower() if len(given) == 1 else ""
        if name not in self.hosts:
            told = f"{printable(name[:100])!r} is none of this server's names, {', '.join(self.hosts)}"
            raise RefusedError(421, f"{told}: ask for one of them, or start it with --name")

    async def _body(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        try:
            await asyncio.wait_for(self._read(receive, parts), self.limits.most_seconds)
        except asyncio.TimeoutError as error:
            message = f"the request did not arrive within {self.limits.most_seconds} seconds: send it anew"
            raise RefusedError(408, message, {"Connection": "close"}) from error
        return b"".join(parts)

    async def _read(self, receive: Receive, parts: list[bytes]) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            more = message.get("more_body", False)
            if size > self.limits.most_bytes:
                raise self._too_large(more)
            parts.append(part)

    def _demand_small(self, scope: Scope) -> None:
        """Refused as announced, before it is sent."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if int(announced) > self.limits.most_bytes:
            raise self._too_large(arriving=True)

    def _too_large(self, arriving: bool) -> RefusedError:
        what = f"the request has more than {self.limits.most_bytes} bytes: send its texts in several"
        return RefusedError(413, what, {"Connection": "close"} if arriving else None)


def again(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever comes: that the client has left."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
