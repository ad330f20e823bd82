"""Refusals of the server: a status, and one sentence that says what to do."""

import json
from collections.abc import Mapping

from starlette.responses import Response


class RefusalError(Exception):
    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers

    def response(self) -> Response:
        """Return the answer as ASCII, which any message can be written as, even half a surrogate pair."""
        content = json.dumps({"error": self.message})
        return Response(content, self.status, self.headers, media_type="application/json")


def busy(message: str) -> RefusalError:
    return RefusalError(503, message, {"Retry-After": "1"})


def disconnected() -> RefusalError:
    return RefusalError(408, "the client has left")


def late(seconds: float) -> RefusalError:
    return RefusalError(
        408, f"the request did not arrive within {seconds} seconds: send it again", {"Connection": "close"}
    )
