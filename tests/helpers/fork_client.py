"""A command for fork_server.py, with the streams, the folder and the environment of whoever asks.

python fork_client.py ADDRESS WORD ...
python fork_client.py --serves SERVERS WORD ...   whether a fork would do what Python makes of the words
python fork_client.py --python SERVERS WORD ...   it does
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

# Read when a command runs, not when Python starts or fairseq is imported
FREE = {"PATH", "PYTEST_CURRENT_TEST", "no_proxy", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
FREE |= {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "PYTHONPATH", "WANDB_NAME", "WANDB_DIR"}
FREE |= {"PYTEST_XDIST_WORKER", "FORK_SERVERS"}  # by the tests
# Set in the tests' own process by libraries: sklearn's import, torch.compile
FREE |= {"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TORCHINDUCTOR_CACHE_DIR"}
# Of torchrun: where it finds Python, and what its processes read when they meet
FREE |= {"PYTHON_EXEC", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE"}
FREE |= {"ROLE_WORLD_SIZE", "TORCH_NCCL_ASYNC_ERROR_HANDLING"}
FREE |= {
    f"TORCHELASTIC_{name}" for name in ("ERROR_FILE", "MAX_RESTARTS", "RESTART_COUNT", "RUN_ID", "USE_AGENT_STORE")
}
FREE |= {"TORCHELASTIC_SIGNALS_TO_HANDLE"}
BY_US = {"PYTHONSAFEPATH", "PYTHONUNBUFFERED"}  # for the processes that our commands start; a fork does as they say
BY_SHELLS = {"_", "SHLVL", "PWD", "OLDPWD"}


def acting(environment: Mapping[str, str], free: Collection[str] = FREE) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in free}


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


def serves(servers: Mapping[str, Any], words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a fork does what Python makes of these words: they are a program's text, or a command of fairseq's or
    torchrun, and nothing that acts when Python starts is set otherwise than where the servers were started."""
    free = FREE | BY_US | BY_SHELLS
    alike = acting(environment, free) == acting(servers["usual"], free)
    _, (what, *more) = unbuffered(words)
    module = more[0] if what == "-m" else ""
    served = module.startswith("fairseq_cli.") or module == "torch.distributed.run"
    return alike and (served or what in ("-c", *servers["scripts"]))


def unbuffered(words: Sequence[str]) -> tuple[bool, Sequence[str]]:
    """Whether they begin with -u, and the others."""
    return words[0] == "-u", words[words[0] == "-u" :]


def as_python(servers: Mapping[str, Any], words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The server's address, and the words for it."""
    at_once, words = unbuffered(words)
    if at_once:
        os.environ["PYTHONUNBUFFERED"] = "1"
    which = {"fairseq_cli.train": "train", "torch.distributed.run": "train", **servers["scripts"]}
    program = words[{"-m": 1, "-c": 2}.get(words[0], 0)]
    return servers[which.get(program, "rest")], words


if __name__ == "__main__":
    address, *words = sys.argv[1:]
    if address in ("--serves", "--python"):
        servers = json.loads(Path(words.pop(0)).read_text())
        if address == "--serves":
            sys.exit(not serves(servers, words, os.environ))
        address, words = as_python(servers, words)
    ended = ask(address, words, str(Path.cwd()), os.environ, (0, 1, 2))
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    sys.exit(ended)
