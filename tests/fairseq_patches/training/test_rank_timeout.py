"""A rank that is stopped ends the others, and not at torch's half an hour."""

import os
import signal
import socket
import subprocess

import pytest
from programs import commands
from programs.program import REPOSITORY

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.training import rank_timeout

RANK = """
import os, sys, torch
from argparse import Namespace
from types import SimpleNamespace
from fairseq.distributed import utils
import realformer_nmt
from realformer_nmt.fairseq_patches.messages import error_line
from realformer_nmt.fairseq_patches.training import rank_timeout
error_line.shorten("fairseq-train")
os.environ[rank_timeout.VARIABLE] = "2"  # seconds
rank, port = int(sys.argv[1]), sys.argv[2]
group = dict(distributed_backend="gloo", distributed_init_method=f"tcp://localhost:{port}", distributed_world_size=2)
settings = SimpleNamespace(**group, distributed_rank=rank)
utils.distributed_init(SimpleNamespace(common=SimpleNamespace(tpu=False, model_parallel_size=1),
    distributed_training=settings, checkpoint=SimpleNamespace(checkpoint_suffix="")))
utils.all_reduce(torch.ones(1), utils.get_data_parallel_group())
print("together", os.getpid(), flush=True)
while True:
    utils.all_reduce(torch.ones(1), utils.get_data_parallel_group())
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def test_a_stopped_rank_ends_the_other() -> None:
    """The first keeps the ranks' meeting point. Both are forks, whose own numbers they print."""
    port = str(free_port())
    ranks = [
        subprocess.Popen(
            [commands.python_of_forks(), "-c", RANK, str(rank), port],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        numbers = [next(line for line in rank.stdout or () if line.startswith("together")).split()[1] for rank in ranks]
        os.kill(int(numbers[0]), signal.SIGSTOP)
        other = ranks[1]
        stderr = other.communicate(timeout=60)[1]
        assert other.returncode == 1
        assert "fairseq-train: another rank did not answer for 2 seconds" in stderr.splitlines()[-1]
        assert "Traceback" not in stderr
    finally:
        for rank in ranks:
            rank.kill()
            rank.communicate(timeout=60)


def test_the_limit_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(rank_timeout.VARIABLE, raising=False)
    assert rank_timeout.seconds() == rank_timeout.DEFAULT
    for written in ("soon", "nan", "-5", "1e99"):
        monkeypatch.setenv(rank_timeout.VARIABLE, written)
        with pytest.raises(UserError, match=rf"{rank_timeout.VARIABLE}={written}: allowed are 1 to 2,592,000 seconds"):
            rank_timeout.seconds()
