"""How much the server takes: each limit is an option of `serve`."""

from dataclasses import dataclass, field


def limit(default: int, what: str) -> int:
    """The default of a field, with the words of --help."""
    made: int = field(default=default, metadata={"help": what})
    return made


@dataclass(frozen=True)
class Limits:
    most_bytes: int = limit(1_000_000, "of a request's body; more is answered with 413")
    most_texts: int = limit(100, "of a request; more are answered with 422")
    most_characters: int = limit(2_000, "of a text; more are answered with 422")
    most_beam: int = limit(16, "a request's beam; more is answered with 422")
    most_waiting: int = limit(256, "requests that wait for their turn; one more is answered with 503")
    most_seconds: int = limit(30, "until a request is answered; after that it is answered with 504")
