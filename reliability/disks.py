"""Disks that are full, read-only or gone while something is written: an error in one line, and no half of a file."""

import contextlib
import io
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from matplotlib import font_manager

from realformer_nmt import cli
from realformer_nmt.checkpoints.files.integrity import is_cut
from reliability import kills
from reliability.trainings import LIMIT, check, fairseq_train, kill, run, start, wait_for

UPDATES = 40
REASONS = (
    "(No space left on device|Read-only file system|File too large|Not a directory|File exists|No such file"
    "|is not a folder: name another)"
)
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
WRITERS = {  # commands that write to `out`
    "average": "average {checkpoint} --output {out}/average.pt",
    "report": "compare {grid} --folder {out} --report --gpus 0",
}
TRANSLATE = "translate {checkpoint} --data {data} --subset train --subwords none --cpu --beam 1 --output {out}/test"
TRANSLATING = {"hypotheses": TRANSLATE}  # by processes, whose shared memory a limit of files would hit
Fault = Callable[[Path], "contextlib.AbstractContextManager[Path]"]


@contextlib.contextmanager
def disk(folder: Path, *options: str) -> Iterator[Path]:
    """Mount a disk in memory, of its own size; only root may have it."""
    folder.mkdir(parents=True)
    mount("-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(folder)], check=True)


def mount(*words: str) -> None:
    subprocess.run(["/bin/mount", *words], check=True)


@contextlib.contextmanager
def small_files(folder: Path) -> Iterator[Path]:
    """Yield a folder where the kernel stops every file, even for who is not root."""
    font_manager.findfont("DejaVu Sans")  # the list of fonts, written at the first use, is not to be cut
    folder.mkdir(parents=True)
    with files_up_to(100):
        yield folder


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def below_a_file(folder: Path) -> Iterator[Path]:
    """Yield a path where nobody can make a folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"a file")
    yield folder / "below"


FAULTS_OF_ROOT: dict[str, Fault] = {
    "full disk": lambda folder: disk(folder, "size=4096"),
    "read-only disk": lambda folder: disk(folder, "ro"),
}
FAULTS: dict[str, Fault] = {"limit of a file's size": small_files, "a file where a folder should be": below_a_file}


@dataclass(frozen=True)
class Outcome:
    """Outcome of writing to a faulty disk."""

    status: int
    output: str
    torn: list[str]  # files under their final names that are not empty

    @property
    def refused(self) -> bool:
        """Return whether it is an error of one line that says what stands in the way, and nothing is half written."""
        line = re.search(rf"^realformer-nmt: .*{REASONS}", self.output, re.M)
        return self.status == 1 and line is not None and "Traceback" not in self.output and not self.torn


def attempt(writer: str, fault: Fault, data: Path, checkpoint: Path, folder: Path) -> Outcome:
    """Call a command that writes to a new folder on a faulty disk."""
    grid, output = folder.with_suffix(".toml"), io.StringIO()
    folder.parent.mkdir(parents=True, exist_ok=True)
    grid.write_text(GRID.format(data=data))
    with fault(folder) as out:
        words = {**WRITERS, **TRANSLATING}[writer].format(checkpoint=checkpoint, grid=grid, data=data, out=out)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = cli.main(words.split())
        files = [path for path in out.rglob("*") if path.is_file()] if out.is_dir() else []
        torn = [path.name for path in files if path.suffix != ".part" and path.stat().st_size]
    return Outcome(status, output.getvalue(), torn)


def fill(folder: Path) -> None:
    """Fill a disk to the last byte, as another program would."""
    with contextlib.suppress(OSError), (folder / "others").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def lock(folder: Path) -> None:
    """Make a folder read-only as the kernel does a failing disk, even with files open: a training holds its lock."""
    mount("--bind", str(folder), str(folder))
    mount("-o", "remount,bind,ro", str(folder))


def lose(folder: Path) -> None:
    folder.rename(folder.with_name("lost"))


def put_back(folder: Path) -> None:
    if folder.with_name("lost").exists():
        folder.with_name("lost").rename(folder)
        return
    subprocess.run(["/bin/umount", str(folder)], capture_output=True, check=False)  # if it was locked
    (folder.parent / "others").unlink(missing_ok=True)


TROUBLES: dict[str, tuple[Callable[[Path], None], str]] = {
    "full disk": (lambda folder: fill(folder.parent), "No space left on device"),
    "read-only disk": (lock, "Read-only file system"),
    "vanished folder": (lose, "has disappeared since the training began"),
}


def train_through(trouble: str, data: Path, undisturbed: Path, folder: Path) -> None:
    """A training ends with the error, every checkpoint of it is whole, and the same command then goes on to the same
    parameters."""
    strike, message = TROUBLES[trouble]
    with disk(folder, "size=20m"):
        words = fairseq_train(data, folder / "run", *kills.SAVING, "--max-update", UPDATES)
        log = folder.with_suffix(".log")
        process = start(words, log)
        wait_for(lambda: kills.reached(log) >= UPDATES // 4, process, log)
        strike(folder / "run")
        try:
            status = process.wait(LIMIT)
        finally:
            kill(process)
        put_back(folder / "run")
        check(status != 0 and message in log.read_text(), log.read_text()[-3000:])
        check(not kills.parts(folder / "run"), f"{trouble} left half a checkpoint")
        for checkpoint in (folder / "run").glob("*.pt"):
            check(not is_cut(checkpoint), f"{trouble} left half of {checkpoint}")
        done = run(words)
        check(done.returncode == 0 and "Loaded checkpoint" in done.stdout, done.stdout[-3000:])
        kills.agree(undisturbed, folder / "run/checkpoint_last.pt", kills.KEPT)
