"""A command for fork_server.py, with the streams, the folder and the environment of whoever asks.

python fork_client.py ADDRESS WORD ...
python fork_client.py --server-for SERVERS WORD ...   the ADDRESS whose forks do what Python does with the words
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Read when a command runs, not when Python starts or fairseq is imported; or obeyed by a fork
FREE = {"PATH", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUNBUFFERED", "PYTHON_EXEC", "RANK", "WORLD_SIZE", "no_proxy"}
FREE |= {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "FORK_SERVERS"}
FREE |= {"_", "SHLVL", "PWD", "OLDPWD"}  # of shells
# Of pytest, trackers, libraries that the tests' own process has imported, and torchrun
FREE_PREFIXES = ("PYTEST_", "WANDB_", "KMP_", "TORCHINDUCTOR_", "TORCHELASTIC_", "MASTER_", "LOCAL_", "GROUP_", "ROLE_")


def acting(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name not in FREE and not name.startswith(FREE_PREFIXES)
    }


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
    """The exit status, of a signal as subprocess has it. TimeoutError kills the command."""
    answer = connection.recv(64)
    if not answer:
        raise ConnectionError("the server has ended")
    return int(answer)


def address_for(servers: Mapping[str, Any], words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The server whose fork does what Python makes of these words: they are a program's text, a command of fairseq's
    or torchrun, and nothing that acts when Python starts is set otherwise than where the servers were started."""
    if acting(environment) != servers["usual"]:
        return None
    place = {"-m": 1, "-c": 2}.get(words[0], 0)  # our commands start `-c TEXT MODULE`
    program = words[place] if len(words) > place else ""
    server_names = {"fairseq_cli.train": "train", "torch.distributed.run": "train", **servers["scripts"]}
    rest = words[0] == "-c" or (words[0] == "-m" and program.startswith("fairseq_cli."))
    which = server_names.get(program, "rest" if rest else None)
    return servers[which] if which else None


if __name__ == "__main__":
    address, *words = sys.argv[1:]
    if address == "--server-for":
        servers, words = json.loads(Path(words[0]).read_text()), words[1:]
        print(address_for(servers, words[words[0] == "-u" :], os.environ) or sys.exit(1))
        sys.exit()
    if words[0] == "-u":
        os.environ["PYTHONUNBUFFERED"], words = "1", words[1:]
    with begin(address, words, str(Path.cwd()), os.environ, (0, 1, 2)) as connection:
        ended = status(connection)
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    sys.exit(ended)
