"""Writers of files, for disks to be faulty under: an average, texts, hypotheses, a report, a download."""

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import digest
from realformer_nmt.common.files.text_lines import write_lines
from realformer_nmt.corpora.archives.download import download
from realformer_nmt.corpora.manifest_schema import Packing

GRID = """
families = ["post_ln", "realformer"]
layers = ["1"]
protocol = "small"
[data]
folder = "{data}"
subwords = "none"
reference = "{data}/../valid.tgt"
[budget]
updates = 9
tokens-a-step = 512
max-tokens = 512
"""


@dataclass(frozen=True)
class Trained:
    """Inputs to average, to translate with, to report on and to fetch."""

    data: Path
    checkpoint: Path
    grid: Path

    @classmethod
    def of(cls, data: Path, checkpoint: Path, folder: Path) -> "Trained":
        grid = folder / "grid.toml"
        grid.write_text(GRID.format(data=data))
        return cls(data, checkpoint, grid)


def average(trained: Trained, folder: Path) -> int:
    return main(["average", str(trained.checkpoint), "--output", str(folder / "average.pt")])


def text(_trained: Trained, folder: Path) -> int:
    return run_as_command(lambda: write_lines(folder / "test.txt", map(str, range(99_999))))


def hypotheses(trained: Trained, folder: Path) -> int:
    words = ["--data", str(trained.data), "--subset", "train", "--subwords", "none", "--output", str(folder / "test")]
    return main(["translate", str(trained.checkpoint), *words, "--cpu", "--beam", "1", "--max-len-b", "10"])


def report(trained: Trained, folder: Path) -> int:
    return main(["compare", str(trained.grid), "--folder", str(folder), "--report", "--gpus", "0"])


def fetched(trained: Trained, folder: Path) -> int:
    with trained.checkpoint.open("rb") as stream:
        packing = partial(Packing, bytes=trained.checkpoint.stat().st_size, sha256=digest(stream, "sha256").hexdigest())
    with served(trained.checkpoint.parent) as url:
        return run_as_command(lambda: download(packing((f"{url}/{trained.checkpoint.name}",)), folder))


def run_as_command(work: Callable[[], object]) -> int:
    """Run a function as a command would: print an error of the user's and return a status."""
    try:
        work()
    except UserError as error:
        print(f"realformer-nmt: {error}")
        return 1
    return 0


WRITERS: dict[str, Callable[[Trained, Path], int]] = {
    "average": average,
    "text": text,
    "report": report,
    "download": fetched,
}


TRANSLATING = {"hypotheses": hypotheses}  # in a process of its own, whose shared memory a limit of files would hit


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that gives up is what is tried."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(timeout=60)
