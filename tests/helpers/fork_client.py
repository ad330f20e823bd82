"""A command for fork_server.py, with the streams, the folder and the environment of whoever asks.

python fork_client.py ADDRESS WORD ...
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def ask(
    address: str,
    words: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    streams: Sequence[int],
    timeout: float | None = None,
) -> int:
    """The exit status, of a signal as subprocess has it. TimeoutError kills the command."""
    with begin(address, words, folder, environment, streams) as connection:
        connection.settimeout(timeout)
        return status(connection)


def begin(
    address: str, words: Sequence[str], folder: str, environment: Mapping[str, str], streams: Sequence[int]
) -> socket.socket:
    """The connection that tells the exit status; the command is killed when our side of it is shut."""
    message = json.dumps({"words": list(words), "folder": folder, "environment": dict(environment)})
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(address)
    socket.send_fds(connection, [message.encode()], streams)
    return connection


def status(connection: socket.socket) -> int:
    answer = connection.recv(64)
    if not answer:
        raise ConnectionError("the server has ended")
    return int(answer)


if __name__ == "__main__":
    ended = ask(sys.argv[1], sys.argv[2:], str(Path.cwd()), os.environ, (0, 1, 2))
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    sys.exit(ended)
