"""`realformer-nmt` in a fork of this process, with a note of all that it writes elsewhere, starts or connects to."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import font_manager

from realformer_nmt import cli
from realformer_nmt.comparison import compare
from realformer_nmt.corpora import fetch
from realformer_nmt.corpora.preparing import prepare
from realformer_nmt.evaluation import significance
from realformer_nmt.model.models import meta_model
from realformer_nmt.protocols import show, train

# Once, and not in every fork; matplotlib writes its list of fonts at the first import in the life of an account
PRELOADED = (compare, fetch, prepare, show, significance, meta_model, train, font_manager)
OUTPUT, STRAYED = ".output", ".strayed"  # in the current folder
OWN = (OUTPUT, STRAYED)
LIMIT = 120  # seconds, after which a command is taken to hang
STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen")
CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind")
CHANGES = {  # how many of the first arguments are paths
    **{"os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.chmod": 1, "os.chown": 1, "os.truncate": 1, "os.utime": 1},
    **{"os.rename": 2, "os.link": 2, "os.symlink": 2},
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Outcome(NamedTuple):
    status: int  # below 0: of a signal
    output: str  # both streams
    strayed: list[str]


class Watch:
    """An audit hook: Python itself tells of each event, whoever causes it."""

    def __init__(self, folder: Path, log: int) -> None:
        self.folder, self.log = os.path.realpath(folder), log

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in CONNECTS or (event in STARTS and not self.is_git(event, arguments)):
            self.note(event, arguments)
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
            self.check_inside(event, arguments[:1])
        elif event in CHANGES:
            self.check_inside(event, arguments[: CHANGES[event]])

    def check_inside(self, event: str, paths: tuple[Any, ...]) -> None:
        for path in paths:
            if isinstance(path, int) or path is None:
                continue
            real = os.path.realpath(os.fsdecode(path))
            if real != os.devnull and not f"{real}/".startswith(f"{self.folder}/"):
                self.note(event, (real,))

    def is_git(self, event: str, arguments: tuple[Any, ...]) -> bool:
        """Return whether an event starts git, which says the commit that a record was made from."""
        return event == "subprocess.Popen" and arguments[0] == "git"

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        os.write(self.log, f"{event} {arguments!r}"[:500].replace("\n", " ").encode("utf-8", "replace") + b"\n")


def run(words: Sequence[str], current: Path, folder: Path) -> Outcome:
    """Run a command in the folder `current`, and note what it writes outside `folder`."""
    output, strayed = current / OUTPUT, current / STRAYED
    for file in (output, strayed):
        file.write_bytes(b"")
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _run(words, current, folder, output, strayed)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Outcome(status, output.read_text(errors="replace"), strayed.read_text().splitlines())


def _run(words: Sequence[str], current: Path, folder: Path, output: Path, strayed: Path) -> None:
    """Run a command in the child, and never return."""
    status = 99
    try:
        os.chdir(current)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)  # which torch makes, whatever it is asked for
        output_descriptor, log = (os.open(file, os.O_WRONLY | os.O_APPEND) for file in (output, strayed))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(output_descriptor, stream)
        sys.dont_write_bytecode = True  # which would be written beside the package
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1, encoding="utf-8") for stream in (1, 2))
        signal.alarm(LIMIT)
        sys.addaudithook(Watch(folder, log))
        status = cli.main(words)
    except SystemExit as system_exit:
        status = system_exit.code if isinstance(system_exit.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
