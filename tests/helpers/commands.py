"""fairseq's commands and `realformer-nmt`, run to their end: in forks of a process that has imported what they import
(fork_server.py), which takes seconds less and does and says the same (test_fork_server.py).

The executables themselves are started, by subprocess, where a test
  sends other signals than SIGKILL, or signals to several processes: processes.start, recipe_runs.start,
    comparisons.start, test_translate, test_fetch;
  measures memory or the start: test_economy, test_command;
  is of executables, streams or what Python starts with: test_programs, test_standard_streams, test_child_processes;
and by this module for a launcher (torchrun, strace, prlimit), for fairseq-hydra-train and other programs that are not
in SERVED, for another Python, and for an environment that differs from that of the tests in more than FREE.
"""

import atexit
import os
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

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
OURS = [sys.executable, "-m", "realformer_nmt.cli"]
NAMES = ("train", "generate", "validate", "interactive", "eval_lm", "preprocess")
SERVED = {f"fairseq-{name.replace('_', '-')}": f"fairseq_cli.{name}" for name in NAMES}
# What fairseq imports, which ours imports only where it needs it, and which changes what it imports
FAIRSEQS = ("torch", "torch.export", "hydra.experimental", "omegaconf", "sacrebleu", "sklearn.metrics", "scipy.stats")
# Imported before it is forked, beside its own module; the second by every optimiser of torch when it is made
OTHERS = {OURS[-1]: FAIRSEQS, "fairseq_cli.train": ("torch._dynamo",)}
# Read when a command runs, not when Python starts or fairseq is imported
FREE = {"PATH", "PYTEST_CURRENT_TEST", "no_proxy", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
FREE |= {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"}
# Set in the tests' own process by libraries: sklearn's import, torch.compile
FREE |= {"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TORCHINDUCTOR_CACHE_DIR"}
START = dict(os.environ)


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
    with (
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        given.write(text)
        given.seek(0)
        streams = (given, out, out if together else err)
        module = module_for(words, variables)
        if module:
            numbers = [stream.fileno() for stream in streams]
            said = words[1:] if words[: len(OURS)] == OURS else words
            address = server(module, variables.get("PYTHONPATH"))
            try:
                status = fork_client.ask(address, said, where, variables, numbers, timeout)
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
    module = module_for(words, variables)
    with Path(os.devnull).open() as nothing:
        if module:
            streams = (nothing.fileno(), output, output)
            address = server(module, variables.get("PYTHONPATH"))
            with fork_client.begin(address, words, str(folder), variables, streams) as connection:

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


def module_for(words: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """The module to import, if it can be a fork's."""
    if sys.platform != "linux" or _acting(variables) != _acting({**START, "OMP_NUM_THREADS": "1"}):
        return None
    if variables.get("PYTHONPATH") not in (START.get("PYTHONPATH"), str(REPOSITORY)):
        return None
    if list(words[: len(OURS)]) == OURS:
        return OURS[-1]
    program = Path(words[0])
    return SERVED.get(program.name) if program.parent == SCRIPTS else None


def _acting(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in FREE | {"PYTHONPATH"}}


@cache
def server(module: str, python_path: str | None) -> str:
    """The address of one, which ends with this process. Not a fork of it: it may hold any lock."""
    folder = tempfile.TemporaryDirectory()
    address = f"{folder.name}/socket"
    environment = {**START, "OMP_NUM_THREADS": "1"} | ({"PYTHONPATH": python_path} if python_path else {})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        process = subprocess.Popen(
            [
                sys.executable,
                Path(__file__).with_name("fork_server.py"),
                str(listener.fileno()),
                module,
                *OTHERS.get(module, ()),
            ],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )
    atexit.register(folder.cleanup)
    atexit.register(process.communicate)
    return address
