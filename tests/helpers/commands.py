"""fairseq's commands and `realformer-nmt`, run to their end: in forks of a process that has imported what they import
(fork_server.py), which takes seconds less and does and says the same (test_fork_server.py). So is what these start in
turn: their sys.executable is `python_of_forks`.

The executables themselves are started, by subprocess, where a test
  sends other signals than SIGKILL, or signals to several processes: processes.start, recipe_runs.start,
    comparisons.start, test_translate, test_fetch;
  measures memory or the start: test_economy, test_command;
  is of executables, streams or what Python starts with: test_programs, test_standard_streams, test_child_processes;
and by this module for a launcher (strace, prlimit), for programs that are not in SERVED, for
another Python, and for an environment that differs from that of the tests in more than FREE.
"""

import atexit
import json
import os
import shlex
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import fork_client
from filelock import FileLock

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
OURS = [sys.executable, "-m", "realformer_nmt.cli"]
OTHER_COMMANDS = ("generate", "validate", "interactive", "eval-lm", "preprocess", "hydra-train")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
SERVED = {"fairseq-train": "train"}  # the others configure their logging after they have imported fairseq
SERVED |= {f"fairseq-{name}": "rest" for name in OTHER_COMMANDS}
FAIRSEQ = ("fairseq.models", "fairseq.tasks", "fairseq.distributed_utils", "fairseq.options", "fairseq.trainer")
# What ours imports where it needs it; fairseq after ours, which else would register with it
OTHERS = ("torch.export", "torch._dynamo", "sklearn.metrics", "scipy.stats", *FAIRSEQ)
OWN = ("protocols.training", "corpora.prepare", "checkpoints.averaging", "evaluation.scoring", "evaluation.translation")
OWN += ("serving.translator", "comparison.results.gather")
# Imported before it is forked; torch._dynamo by every optimiser of torch when it is made, and by models on "meta"
MODULES = {
    "train": ("fairseq_cli.train", "torch._dynamo", TORCHRUN[-1]),
    "rest": FAIRSEQ,
    "ours": (OURS[-1], *OTHERS, *(f"realformer_nmt.{name}" for name in OWN)),
}
START = dict(os.environ)
FOLDER, ALIVE = "FORK_SERVERS", "alive"


def fairseq(name: str, *arguments: object) -> list[str]:
    return [str(SCRIPTS / f"fairseq-{name}"), *map(str, arguments)]


def run(
    words: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] = {},
    text: str = "",
    together: bool = False,
    timeout: float = 540,  # within that of a test, which pyproject.toml sets
) -> subprocess.CompletedProcess[str]:
    """With the tests' environment and one thread. `text` is its standard input; `together`: stderr is in stdout."""
    where = str(folder or Path.cwd())
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    if list(words[: len(TORCHRUN)]) == TORCHRUN:
        variables = {"PYTHON_EXEC": python_of_forks(), **variables}
    with (
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        given.write(text)
        given.seek(0)
        streams = (given, out, out if together else err)
        which = server_for(words, variables)
        if which:
            numbers = [stream.fileno() for stream in streams]
            said = words[1:] if words[1:2] == ["-m"] else words
            try:
                status = fork_client.ask(server(which), said, where, variables, numbers, timeout)
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(list(words), timeout) from error
        else:
            stdin, stdout, stderr = streams
            real = subprocess.run(
                words, cwd=where, env=variables, stdin=stdin, stdout=stdout, stderr=stderr, timeout=timeout, check=False
            )
            status = real.returncode
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(words), status, out.read(), err.read())


@contextmanager
def begun(words: Sequence[str], folder: Path, output: int) -> Iterator[Callable[[], int]]:
    """Runs it without input, both outputs to a file descriptor; what is yielded kills it and returns its status."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    which = server_for(words, variables)
    with Path(os.devnull).open() as nothing:
        if which:
            streams = (nothing.fileno(), output, output)
            with fork_client.begin(server(which), words, str(folder), variables, streams) as connection:

                def kill() -> int:
                    connection.shutdown(socket.SHUT_WR)
                    return fork_client.status(connection)

                yield kill
        else:
            with subprocess.Popen(
                words, cwd=folder, env=variables, stdin=nothing, stdout=output, stderr=output
            ) as process:

                def kill() -> int:
                    process.kill()
                    return process.wait()

                yield kill


def server_for(words: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """Which, if it can be a fork."""
    if sys.platform != "linux" or fork_client.acting(variables) != usual():
        return None
    if variables.get("PYTHONPATH") not in (START.get("PYTHONPATH"), str(REPOSITORY)):
        return None
    if list(words[: len(OURS)]) == OURS:
        return "ours"
    if list(words[: len(TORCHRUN)]) == TORCHRUN:
        return "train"
    program = Path(words[0])
    return SERVED.get(program.name) if program.parent == SCRIPTS else None


def usual() -> dict[str, str]:
    return fork_client.acting({**START, "OMP_NUM_THREADS": "1"})


@cache
def server(which: str) -> str:
    """The address of one. Not a fork of this process: it may hold any lock."""
    folder = shared()
    address = folder / which
    with FileLock(folder / f"{which}.lock"):
        if not address.exists():
            _start_server(which, address)
    return str(address)


@cache  # which holds it
def _start_server(which: str, address: Path) -> subprocess.Popen[bytes]:
    python = python_of_forks() if which == "ours" else sys.executable
    environment = {"PYTHONPATH": str(REPOSITORY), **START, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONUNBUFFERED", None)  # a fork's streams are told
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, (shared() / ALIVE).open() as alive:
        listener.bind(str(address))
        listener.listen(64)
        words = [Path(__file__).with_name("fork_server.py"), str(listener.fileno()), python, *MODULES[which]]
        return subprocess.Popen(
            [sys.executable, *words],
            env=environment,
            stdin=alive,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )


@cache
def shared() -> Path:
    """The folder of the servers, which all processes of a run of pytest share. It is made by the first, which starts
    the others; when that ends, a pipe that it holds is closed, and each server with it."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.environ[FOLDER] = folder.name
    os.mkfifo(Path(folder.name, ALIVE))
    os.open(Path(folder.name, ALIVE), os.O_RDWR)  # for as long as this process lives
    return Path(folder.name)


@cache
def python_of_forks() -> str:
    """A Python for what our commands start: a fork too, if it can be."""
    servers, python = shared() / "servers.json", shared() / "python"
    scripts = {str(SCRIPTS / name): which for name, which in SERVED.items()}
    known = {"train": server("train"), "rest": server("rest"), "scripts": scripts}
    with FileLock(shared() / "python.lock"):
        if not python.exists():
            servers.write_text(json.dumps({**known, "usual": usual()}))
            client = shlex.join([sys.executable, "-IS", str(Path(fork_client.__file__))])
            words = f'{shlex.quote(str(servers))} "$@"'
            python.touch(mode=0o755)
            python.write_text(
                f"#!/bin/sh\n{client} --serves {words} && exec {client} --python {words}\n"
                f'exec {shlex.quote(sys.executable)} "$@"\n'
            )
    return str(python)


@contextmanager
def starting_forks() -> Iterator[None]:
    """For our commands in this process, and for torchrun."""
    python = sys.executable
    os.environ["PYTHON_EXEC"] = sys.executable = python_of_forks()
    try:
        yield
    finally:
        sys.executable = python
        del os.environ["PYTHON_EXEC"]
