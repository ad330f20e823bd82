"""The page's files, as they are sent to a browser."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def add(app: FastAPI) -> None:
    """Each by its name, and the page itself at /."""
    for file in sorted(FOLDER.iterdir()):
        path = "/" if file.name == "index.html" else f"/{file.name}"
        app.get(path, include_in_schema=False)(sender(file.read_bytes(), KINDS[file.suffix]))


def sender(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
    async def send() -> Response:
        return Response(content, media_type=kind)

    return send
