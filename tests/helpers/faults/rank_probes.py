"""Probes of ranks: what fairseq makes of devices, launchers and what ranks send each other."""

import argparse
import os

import torch
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed_utils
from fairseq.models.distributed_fairseq_model import DistributedFairseqModel
from torch import nn


def model_on_the_cpu() -> str:
    settings = argparse.Namespace(
        tpu=False,
        ddp_backend="pytorch_ddp",
        device_id=0,
        broadcast_buffers=False,
        bucket_cap_mb=25,
        ddp_comm_hook="none",
        find_unused_parameters=False,
        gradient_as_bucket_view=False,
        heartbeat_timeout=-1,
    )
    return type(DistributedFairseqModel(settings, nn.Linear(2, 2), None, torch.device("cpu"))).__name__


def _run_on(*extra: str, **environment: str) -> str:
    """Return how call_main ran a command's main, if at all."""
    parser = options.get_training_parser()
    args = options.parse_args_and_arch(parser, ["data", "--arch", "transformer", "--optimizer", "sgd", *extra])
    ran = []
    os.environ.update(environment)
    try:
        distributed_utils.call_main(convert_namespace_to_omegaconf(args), lambda _: ran.append("alone"))
    finally:
        for name in environment:
            del os.environ[name]
    return ran[0] if ran else "success without training"


LAUNCHED = {"MASTER_ADDR": "localhost", "MASTER_PORT": "29600", "WORLD_SIZE": "2", "RANK": "0"}


def torchrun() -> str:
    return _run_on(**LAUNCHED)


def torchrun_with_world_size() -> str:
    return _run_on("--distributed-world-size", "2", **LAUNCHED)


def spawn() -> str:
    return _run_on("--distributed-world-size", "2")


def spawn_with_init_method() -> str:
    return _run_on("--distributed-world-size", "2", "--distributed-init-method", "tcp://localhost:29600")


def spawn_with_port() -> str:
    return _run_on("--distributed-world-size", "2", "--distributed-port", "29600")
