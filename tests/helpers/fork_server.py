"""A program of Python that is imported once and run many times: each run is a fork of this process.

    python fork_server.py LISTENER PYTHON MODULE ...

MODULE is what the programs import, LISTENER a Unix socket that listens. A connection brings a command and its three
standard streams (fork_client.py), and gets the exit status when the fork has ended; if it is closed before, the fork is
killed. A fork leaves the loop and runs what the executable would run, as `__main__`, and ends as Python ends: threads,
hooks, buffers, status. But nothing that was imported is taken apart: the pages are the server's, and would be copied
for that, a third of a second. PYTHON is what it starts as Python; where it asks multiprocessing for a server of forks,
it is that server itself. It all ends with the standard input of this process.
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
import selectors
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
    ended: int  # a file descriptor that is readable then
    connection: socket.socket


def next_command(listener: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Returns in every fork, and never in this process."""
    with selectors.DefaultSelector() as events:
        events.register(0, selectors.EVENT_READ)
        events.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in events.select():
                if key.fd == 0:
                    os._exit(0)
                elif key.fileobj is listener:
                    connection, _ = listener.accept()
                    message, streams, *_ = socket.recv_fds(connection, 1 << 20, 3)
                    process = os.fork()
                    if process == 0:
                        _forget(events)
                        connection.close()
                        return json.loads(message), streams
                    for stream in streams:
                        os.close(stream)
                    _watch(events, Run(process, os.pidfd_open(process), connection))
                elif key.fd in events.get_map():  # not closed since the events were told
                    _end(events, key)


def _forget(events: selectors.BaseSelector) -> None:
    for key in list(events.get_map().values()):
        if key.fd:
            key.fileobj.close() if isinstance(key.fileobj, socket.socket) else os.close(key.fd)


def _watch(events: selectors.BaseSelector, run: Run) -> None:
    events.register(run.ended, selectors.EVENT_READ, run)
    events.register(run.connection, selectors.EVENT_READ, run)


def _end(events: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    run: Run = key.data
    if key.fd != run.ended:  # nobody waits for it any more
        signal.pidfd_send_signal(run.ended, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(run.process, 0)[1])
    events.unregister(run.ended)
    events.unregister(run.connection)
    with contextlib.suppress(OSError):
        run.connection.send(str(status).encode())
    run.connection.close()
    os.close(run.ended)


def become(words: list[str], folder: str, environment: dict[str, str], streams: list[int], said: list[bytes]) -> None:
    """The process as it is when the executable has been started and has imported MODULE."""
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
    for number, text in enumerate(said, start=1):
        if text:
            os.write(number, text)


def fork_only() -> None:
    """In place of multiprocessing's own server of forks, which would import again what is imported here."""
    contexts = multiprocessing.get_context
    multiprocessing.get_context = lambda method=None: contexts("fork" if method == "forkserver" else method)


def run(words: list[str]) -> None:
    """As Python runs the words after its own name."""
    sys.argv = words
    for name in words[1:3]:
        sys.modules.pop(name, None)  # what is run: of one that is imported already runpy warns
    if words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        code = os.memfd_create("code")
        os.write(code, f"import sys; sys.argv[0] = '-c'\n{words[1]}".encode())
        sys.argv = words[1:]
        runpy.run_path(f"/proc/self/fd/{code}", run_name="__main__")
    else:
        runpy.run_path(words[0], run_name="__main__")


def status_of(words: list[str]) -> int:
    """A status that is no number, a text say, and an interruption go on to Python itself."""
    try:
        run(words)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(status: int) -> None:
    """A thread that is left, or an output that cannot be written, is left to Python: it may abort, and say so."""
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


def imported(modules: Sequence[str]) -> list[bytes]:
    """What this says on its two outputs, which are pipes: Python takes these for streams that cannot seek."""
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    arguments, sys.argv = sys.argv, ["-m"]
    for module in modules:
        importlib.import_module(module)
    sys.argv = arguments
    if "fairseq" in sys.modules:
        runpy.run_path(str(Path(__file__).with_name("quick_flags.py")))["make_quick"]()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    assert len([*Path("/proc/self/task").iterdir()]) == 1, "a fork has but one thread"
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False  # torch's thousands, which take apart what a fork does not own
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)  # as in tests/conftest.py
    return [_taken(number) for number in (1, 2)]


def _taken(number: int) -> bytes:
    reader = os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(reader, 1 << 16)
    except BlockingIOError:  # there is nothing
        return b""
    finally:
        os.close(reader)


if __name__ == "__main__":
    listener, python, *modules = sys.argv[1:]
    said = imported(modules)
    command, streams = next_command(socket.socket(fileno=int(listener)))
    become(**command, streams=streams, said=said)
    sys.executable = python
    fork_only()
    end(status_of(command["words"]))
