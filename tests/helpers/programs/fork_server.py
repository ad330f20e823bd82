"""Commands in forks of a process that has imported fairseq already, which saves five seconds for each.

1. A server imports its modules once and waits at a socket: python fork_server.py LISTENER PYTHON MODULE ...
2. A test sends it a command, with its folder, its environment and its three streams (fork_client.py).
3. A fork of the server becomes what the executable would be by then, runs the command, and ends as Python ends.
4. The server answers its exit status, or kills it if the test goes away.
5. The server ends with its standard input, which the first process of pytest holds.

LISTENER is a Unix socket that listens, PYTHON what a command starts as its sys.executable: a fork, too.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import multiprocessing
import os
import runpy
import select
import signal
import socket
import sys
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

PYTHONPATH = os.environ.get("PYTHONPATH", "")


class Run(NamedTuple):
    process: int
    connection: socket.socket


def serve(listener: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Returns a command and its streams, in each fork that is to run one."""
    runs: dict[int, Run] = {}  # each with a file descriptor that is readable when it has ended
    while True:
        ready = select.select([0, listener, *runs, *(run.connection for run in runs.values())], [], [])[0]
        if 0 in ready:
            os._exit(0)
        for ended, run in [*runs.items()]:
            if ended in ready or run.connection in ready:
                answer(ended, runs.pop(ended))
        if listener in ready:
            connection, _ = listener.accept()
            message, streams, *_ = socket.recv_fds(connection, 1 << 20, 3)
            process = os.fork()
            if process == 0:
                for ended, run in runs.items():
                    os.close(ended)
                    run.connection.close()
                listener.close()
                connection.close()
                return json.loads(message), streams
            for stream in streams:
                os.close(stream)
            runs[os.pidfd_open(process)] = Run(process, connection)


def answer(ended: int, run: Run) -> None:
    """A command that has not ended is killed: nobody waits for it any more."""
    signal.pidfd_send_signal(ended, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(run.process, 0)[1])
    with contextlib.suppress(OSError):
        run.connection.send(str(status).encode())
    run.connection.close()
    os.close(ended)


def become(
    words: list[str], folder: str, environment: dict[str, str], streams: list[int], outputs: list[bytes]
) -> None:
    """The process as it is when the executable has been started and has imported the modules."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.modules["numpy"].random.seed()  # the forks would have the same chance
    if not os.environ.get("PYTHONPATH"):
        sys.path[:] = [place for place in sys.path if place != PYTHONPATH]
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, {"-m": folder, "-c": ""}.get(words[0], str(Path(words[0]).parent)))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=stream is sys.stderr or bool(os.environ.get("PYTHONUNBUFFERED")))
    for number, text in enumerate(outputs, start=1):
        if text:
            os.write(number, text)
    # multiprocessing's own server of forks would import again what is imported here
    contexts = multiprocessing.get_context
    multiprocessing.get_context = lambda method=None: contexts("fork" if method == "forkserver" else method)


def run(words: list[str]) -> int:
    """Run words as Python runs those after its name; an interruption or a status that is no number goes on to it."""
    for name in words[1:3]:
        sys.modules.pop(name, None)  # runpy warns of a module that is imported already
    try:
        if words[0] == "-m":
            sys.argv = ["-m", *words[2:]]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        elif words[0] == "-c":
            code = os.memfd_create("code")
            os.write(code, f"import sys; sys.argv[0] = '-c'\n{words[1]}".encode())
            sys.argv = words[1:]
            runpy.run_path(f"/proc/self/fd/{code}", run_name="__main__")
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(status: int) -> None:
    """End as Python does, but take nothing apart that was imported: its pages would be copied, a third of a second.
    A thread that is left, or an output that cannot be written, is left to Python: it may abort, and say so."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    if threading.active_count() > 1:
        sys.exit(status)
    for left_open in gc.get_objects():
        if type(left_open) in (io.TextIOWrapper, io.BufferedWriter) and not left_open.closed:
            left_open.flush()
    os._exit(status)


def import_all(modules: Sequence[str]) -> list[bytes]:
    """Returns what this says on the two outputs, which are pipes: Python takes these for streams that cannot seek."""
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    arguments, sys.argv = sys.argv, ["-m"]
    for module in modules:
        importlib.import_module(module)
    sys.argv = arguments
    if "fairseq" in sys.modules:
        runpy.run_path(str(Path(__file__).with_name("quick_flags.py")))["make_quick"]()
    assert len([*Path("/proc/self/task").iterdir()]) == 1, "a fork has but one thread"
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False  # torch's thousands, which take apart what a fork does not own
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)  # as in tests/conftest.py
    outputs = [b"", b""]
    for number, stream in enumerate((sys.stdout, sys.stderr)):
        stream.flush()
        reader = os.open(f"/proc/self/fd/{number + 1}", os.O_RDONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):  # there is nothing
            outputs[number] = os.read(reader, 1 << 16)
        os.close(reader)
    return outputs


if __name__ == "__main__":
    listener, python, *modules = sys.argv[1:]
    outputs = import_all(modules)
    command, streams = serve(socket.socket(fileno=int(listener)))
    become(**command, streams=streams, outputs=outputs)
    sys.executable = python
    end(run(command["words"]))
