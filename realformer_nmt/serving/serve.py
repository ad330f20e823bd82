"""`realformer-nmt serve`: trained models behind HTTP, and a page to try them."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from realformer_nmt.common.numbers import LARGEST, Number, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.corpora.corpus_options import CorpusOptions

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


@dataclass(frozen=True, kw_only=True)
class ServeRequest(Limits, CorpusOptions):
    """Answer POST /translate, POST /attention, GET /models, GET /health and GET /openapi.json, and show a page. Several
    models are served side by side, each by the name of its folder. Ends at SIGTERM or Ctrl+C, when the requests in
    work are answered. The corpus is the one that each model was trained on, unless the options say another."""

    subcommand: ClassVar[str] = "serve"
    implementation: ClassVar[str] = "realformer_nmt.serving.server"
    examples: ClassVar[str] = """examples:
  realformer-nmt serve runs/cells/realformer-18-s1
  realformer-nmt serve runs/cells/post_ln-6-s1 runs/cells/realformer-6-s1 --precision int8 --port 0
"""

    runs: tuple[Path, ...] = argument("a run's folder, or a checkpoint (.pt)", metavar="RUN")
    host: str = option("address to listen at (default: 127.0.0.1)", "127.0.0.1")
    port: int = option("default: 8000; 0: any that is free", 8000, range=Number(0, 65_535, "0 to 65535"))
    name: tuple[str, ...] = option("a further name by which clients may ask for it", (), metavar="HOST", repeated=True)
    precision: Literal["fp32", "bf16", "int8"] = option("of the models (default: fp32)", "fp32")
    cpu: bool = option("use the CPU even if there is a GPU", False)


REQUEST = ServeRequest
