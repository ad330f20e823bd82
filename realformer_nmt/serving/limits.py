"""Limits of the server; each is an option of `serve`."""

from dataclasses import dataclass, fields
from typing import Any

from realformer_nmt.common.numbers import LARGEST, Number, whole
from realformer_nmt.common.requests.option import option

WHOLE = whole(1)
SECONDS = Number(0.001, LARGEST, "0.001 or more")


def limit(default: int, what: str, range: Number = WHOLE) -> Any:
    """Return a field with its text of --help."""
    return option(f"{what} (default: {default})", default, metavar="N", range=range, group="limits")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Base of a request to serve: the limits of a server."""

    most_bytes: int = limit(1_000_000, "of a request's body; more is answered with 413")
    most_texts: int = limit(100, "of a request; more are answered with 422")
    most_characters: int = limit(2_000, "of a text; more are answered with 422")
    most_beam: int = limit(16, "a request's beam; more is answered with 422")
    most_waiting: int = limit(256, "requests that wait for their turn; one more is answered with 503")
    most_seconds: float = limit(30, "until a request is answered; after that it is answered with 504", SECONDS)

    def limits(self) -> "Limits":
        return Limits(**{each.name: getattr(self, each.name) for each in fields(Limits)})
