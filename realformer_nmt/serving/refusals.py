"""Refusals of the server: a status, and one sentence in {"error": ...} that says what to do."""

import json
import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.common.terminal import printable

UNREADABLE = (
    "the body cannot be read: send JSON in UTF-8, without deep nesting and without numbers of thousands of digits"
)
SHOULD = re.compile(r"^\w+ should")  # how pydantic's messages begin
SHOWN = 3  # errors of a request that its answer lists


class RefusalError(HTTPException):
    """Status, sentence and headers of a refusal; FastAPI passes on an HTTPException that is raised in a body."""

    def response(self) -> Response:
        """Return the answer as ASCII, which any message can be written as, even half a surrogate pair."""
        content = json.dumps({"error": self.detail})
        return Response(content, self.status_code, self.headers, media_type="application/json")


def busy(message: str) -> RefusalError:
    return RefusalError(503, message, {"Retry-After": "1"})


def add_refusals(app: FastAPI) -> None:
    @app.exception_handler(RefusalError)
    async def refused(_: Request, refusal: RefusalError) -> Response:
        return refusal.response()

    @app.exception_handler(UserError)
    async def impossible(_: Request, error: UserError) -> Response:
        return RefusalError(422, printable(one_line(error))).response()

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        if isinstance(error.body, bytes):  # FastAPI parses a body if its media type is JSON
            return RefusalError(422, "send JSON, with the header Content-Type: application/json").response()
        mistakes = map(sentence, error.errors()[:SHOWN])
        return RefusalError(422, printable("; ".join(mistakes))).response()

    @app.exception_handler(HTTPException)
    async def elsewhere(request: Request, error: HTTPException) -> Response:
        """Answer other errors; FastAPI's 400 is for a body that cannot be read."""
        unreadable = error.status_code == 400
        detail = UNREADABLE if unreadable else f"{error.detail}; /openapi.json says what there is"
        message = f"{request.method} {printable(request.url.path[:100])}: {detail}"
        return RefusalError(422 if unreadable else error.status_code, message, error.headers).response()

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, error: Exception) -> Response:
        return RefusalError(500, f"{type(error).__name__}: unexpected error; the server's output says more").response()


def sentence(mistake: Mapping[str, Any]) -> str:
    """Return pydantic's description of a mistake as a sentence about the field."""
    name = ".".join(str(part)[:100] for part in mistake["loc"][1:]) or "the body"
    match mistake["type"]:
        case "json_invalid":
            return f"the body is not JSON: {mistake['ctx']['error']}, at character {mistake['loc'][1]}"
        case "extra_forbidden":
            return f"{name} is no field of such a request: /openapi.json lists them"
        case "missing":
            return f"{name} is missing"
    return f"{name} {SHOULD.sub('must', mistake['msg'])}"
