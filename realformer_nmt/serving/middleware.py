"""Middleware around the whole server: allowed hosts, size of requests, security headers of answers."""

import asyncio
import re
import time
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from realformer_nmt.common.terminal import printable
from realformer_nmt.serving.refusals import RefusalError
from realformer_nmt.serving.serve import Limits

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
    """ASGI middleware that checks requests before and while the app gets them.

    A request with a Host header that is not in `hosts` is refused, as it may come from a page whose name was pointed to
    this machine (DNS rebinding). starlette's own TrustedHostMiddleware does not name the hosts, and answers no JSON.
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Collection[str]) -> None:
        self.app, self.limits = app, limits
        self.hosts = list(dict.fromkeys(PORT.sub("", name).lower() for name in hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        host = PORT.sub("", Headers(scope=scope).get("host", "")).lower()
        if host in self.hosts:
            await self.app(scope, self._bounded(receive), send_guarded)
            return
        refusal = RefusalError(
            421,
            f"{printable(host[:100])!r} is none of this server's names, {', '.join(self.hosts)}: "
            "ask for one of them, or start it with --name",
        )
        await refusal.response()(scope, receive, send_guarded)

    def _bounded(self, receive: Receive) -> Receive:
        """Return a receiver that refuses a body of too many bytes or seconds; later messages have no limits."""
        size, arriving, begun = 0, True, time.monotonic()

        async def next_message() -> Message:
            nonlocal size, arriving
            if not arriving:
                return await receive()
            rest = begun + self.limits.most_seconds - time.monotonic()
            try:
                message = await asyncio.wait_for(receive(), rest)
            except asyncio.TimeoutError as error:
                reason = f"the request did not arrive within {self.limits.most_seconds} seconds: send it again"
                raise RefusalError(408, reason) from error
            size += len(message.get("body", b""))
            arriving = message.get("more_body", False)
            if size > self.limits.most_bytes:
                reason = f"the request has more than {self.limits.most_bytes} bytes: send its texts in several"
                raise RefusalError(413, reason)
            return message

        return next_message
