"""Files of the page, sent to a browser."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def add(app: FastAPI) -> None:
    """Add a route for each file by its name, and for the page itself at /."""
    for file in sorted(FOLDER.iterdir()):
        path = "/" if file.name == "index.html" else f"/{file.name}"
        app.get(path, include_in_schema=False)(sender(file.read_bytes(), MEDIA_TYPES[file.suffix]))


def sender(content: bytes, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def send() -> Response:
        return Response(content, media_type=media_type)

    return send
