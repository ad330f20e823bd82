"""Refusals of the server: a status, and one sentence that says what to do."""

import json

from starlette.exceptions import HTTPException
from starlette.responses import Response


class RefusalError(HTTPException):
    """Status, sentence and headers of a refusal; FastAPI passes on an HTTPException that is raised in a body."""

    def response(self) -> Response:
        """Return the answer as ASCII, which any message can be written as, even half a surrogate pair."""
        content = json.dumps({"error": self.detail})
        return Response(content, self.status_code, self.headers, media_type="application/json")


def busy(message: str) -> RefusalError:
    return RefusalError(503, message, {"Retry-After": "1"})
