"""fairseq's commands and `realformer-nmt`, run to their end: in forks (fork_server.py), which do and say what the
executables do (test_fork_server.py). So is what these start in turn: their sys.executable is `python_of_forks`.

The executable itself is started for a launcher, for a program that is not in SERVED, for another Python, and for an
environment that acts otherwise than the tests' own (fork_client.acting). A test that sends other signals than SIGKILL,
or that measures memory, the start or the streams, starts it by subprocess.
"""

import atexit
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import IO

from filelock import FileLock
from programs import fork_client

REPOSITORY = Path(__file__).resolve().parents[3]
SCRIPTS = Path(sysconfig.get_path("scripts"))
OURS = [sys.executable, "-m", "realformer_nmt.cli"]
OTHER_COMMANDS = ("generate", "validate", "interactive", "eval-lm", "preprocess", "hydra-train")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
SERVED = {"fairseq-train": "train"}  # the others configure their logging after they have imported fairseq
SERVED |= {f"fairseq-{name}": "rest" for name in OTHER_COMMANDS}
FAIRSEQ = ("fairseq.models", "fairseq.tasks", "fairseq.distributed_utils", "fairseq.options", "fairseq.trainer")
# What ours imports where it needs it; fairseq after ours, which else would register with it
OTHERS = ("torch._dynamo", "sklearn.metrics", "scipy.stats", *FAIRSEQ)
OWN = (
    "realformer_nmt.protocols.running.training",
    "realformer_nmt.corpora.preparing.prepare",
    "realformer_nmt.checkpoints.averaging",
    "realformer_nmt.evaluation.scoring.scoring",
    "realformer_nmt.evaluation.translating.translation",
    "realformer_nmt.serving.translator",
    "realformer_nmt.comparison.results.gather",
)
# Imported before it is forked; torch._dynamo by every optimiser of torch when it is made, and by models on "meta"
MODULES = {
    "train": ("fairseq_cli.train", "torch._dynamo", TORCHRUN[-1]),
    "rest": FAIRSEQ,
    "ours": (OURS[-1], *OTHERS, *OWN),
}
GPU = Path("/dev/nvidiactl").exists()  # what CUDA has begun in a process ends with its fork
START = {**os.environ, "OMP_NUM_THREADS": "1"}
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
    """Run a command in the tests' environment on one thread; `text` is its stdin, `together` puts stderr in stdout."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    if list(words[: len(TORCHRUN)]) == TORCHRUN:
        variables = {"PYTHON_EXEC": python_of_forks(), **variables}
    file = partial(tempfile.TemporaryFile, "w+")
    with file() as stdin, file() as out, file() as err:
        stdin.write(text)
        stdin.seek(0)
        streams = (stdin, out, out if together else err)
        status = status_of(words, str(folder or Path.cwd()), variables, streams, timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(words), status, out.read(), err.read())


def status_of(
    words: Sequence[str], folder: str, variables: Mapping[str, str], streams: Sequence[IO[str]], timeout: float
) -> int:
    which = server_for(words, variables)
    if which is None:
        stdin, out, err = streams
        return subprocess.run(
            words, cwd=folder, env=variables, stdin=stdin, stdout=out, stderr=err, timeout=timeout, check=False
        ).returncode
    arguments = words[1:] if words[1:2] == ["-m"] else words
    numbers = [stream.fileno() for stream in streams]
    with fork_client.begin(server(which), arguments, folder, variables, numbers) as connection:
        connection.settimeout(timeout)
        try:
            return fork_client.status(connection)
        except TimeoutError as error:
            raise subprocess.TimeoutExpired(list(words), timeout) from error


def kill_after(words: Sequence[str], folder: Path, reached: Callable[[str], bool]) -> str:
    """Kill a command of fairseq's when a line is reached, and return what it has said."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    if GPU:
        return kill_executable_after(words, folder, variables, reached)
    address, lines, (reader, writer) = server(SERVED[Path(words[0]).name]), [], os.pipe()
    with os.fdopen(reader) as output, Path(os.devnull).open() as nothing:
        streams = (nothing.fileno(), writer, writer)
        with fork_client.begin(address, words, str(folder), variables, streams) as connection:
            os.close(writer)
            for line in output:
                lines.append(line)
                if reached(line):
                    break
            connection.shutdown(socket.SHUT_WR)
            assert fork_client.status(connection) == -signal.SIGKILL, "".join(lines)[-3000:]
    return "".join(lines)


def kill_executable_after(
    words: Sequence[str], folder: Path, variables: Mapping[str, str], reached: Callable[[str], bool]
) -> str:
    lines = []
    with subprocess.Popen(
        words, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if reached(line):
                process.kill()
                return "".join(lines)
    raise AssertionError("".join(lines)[-3000:])


def server_for(words: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """Return the name of the server that can run a command as a fork, or None."""
    if sys.platform != "linux" or GPU or fork_client.acting(variables) != fork_client.acting(START):
        return None
    if variables.get("PYTHONPATH") not in (START.get("PYTHONPATH"), str(REPOSITORY)):
        return None
    modules = {OURS[-1]: "ours", TORCHRUN[-1]: "train"}
    if list(words[:2]) == OURS[:2]:
        return modules.get(words[2])
    program = Path(words[0])
    return SERVED.get(program.name) if program.parent == SCRIPTS else None


@cache
def server(which: str) -> str:
    """The address of one. Not a fork of this process: it may hold any lock."""
    address = shared() / which
    with FileLock(shared() / f"{which}.lock"):
        if not address.exists():
            start_server(which, address)
    return str(address)


@cache  # which holds it
def start_server(which: str, address: Path) -> subprocess.Popen[bytes]:
    python = python_of_forks() if which == "ours" else sys.executable
    environment = {"PYTHONPATH": str(REPOSITORY), **START}
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
    description = {"train": server("train"), "rest": server("rest"), "usual": fork_client.acting(START)}
    scripts = {str(SCRIPTS / name): which for name, which in SERVED.items()}
    with FileLock(shared() / "python.lock"):
        if not python.exists():
            servers.write_text(json.dumps({**description, "scripts": scripts}))
            client = shlex.join([sys.executable, "-IS", str(Path(fork_client.__file__))])
            python.touch(mode=0o755)
            python.write_text(
                f'#!/bin/sh\naddress=$({client} --server-for {shlex.quote(str(servers))} "$@") &&\n'
                f'exec {client} "$address" "$@"\nexec {shlex.quote(sys.executable)} "$@"\n'
            )
    return str(python)


@contextmanager
def starting_forks() -> Iterator[None]:
    """Let our commands in this process, and torchrun, start forks."""
    python = sys.executable
    os.environ["PYTHON_EXEC"] = sys.executable = python_of_forks()
    try:
        yield
    finally:
        sys.executable = python
        del os.environ["PYTHON_EXEC"]
