"""Runs on many ranks, on GPUs and on the CPU: by torchrun, by fairseq's own spawn, or started by hand.

fairseq decides in distributed/utils.py, call_main, how many processes train. It follows torchrun only if
--distributed-world-size is not 1 (else every process trains alone and overwrites the others' files), and counts CUDA
devices even where there are none (issues 4302, 3318 and 2879 of facebookresearch/fairseq). Here a run on N ranks is a
run on N ranks, or an error.
"""

import functools
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

import torch
from fairseq.distributed import utils as distributed_utils
from fairseq.models import distributed_fairseq_model
from fairseq.trainer import Trainer
from hydra.core.hydra_config import HydraConfig
from torch.multiprocessing.spawn import start_processes

from realformer_nmt.common import error_messages
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.parent_death_signal import die_with_parent
from realformer_nmt.fairseq_patches.patch import Original, patch
from realformer_nmt.fairseq_patches.training.rank_timeout import seconds

LAUNCHED = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")  # set by torchrun for its processes
logger = logging.getLogger(__name__)
Config = Any  # fairseq's FairseqConfig, which has no type within omegaconf


def refuse_ranks_that_train_alone() -> None:
    """Refuse torchrun where fairseq-hydra-train takes each process for a run of its own.

    It imports this package too late to join them.
    """
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if HydraConfig.initialized() and ranks > 1 and not torch.distributed.is_initialized():
        raise UserError(
            f"WORLD_SIZE={ranks}, but fairseq-hydra-train made no process group, so that {ranks} processes would train "
            f"alone. Pass distributed_training.distributed_world_size={ranks} on GPUs; on the CPU use fairseq-train."
        )


@patch(distributed_utils, "call_main")
def start_the_ranks_asked_for(original: Original, cfg: Config, main: Callable[..., None], **kwargs: Any) -> None:
    """Start as many ranks as torchrun or the options say.

    fairseq under torchrun without --distributed-world-size runs N trainings at once. On the CPU call_main fails (modulo
    by zero GPUs), refuses to spawn, or, with an init method, ends with success without training.
    """
    settings = cfg.distributed_training
    if not (cfg.common.tpu or settings.pipeline_model_parallel):
        on_cpu = cfg.common.cpu or not torch.cuda.is_available()
        fill_in(settings, on_cpu)
        if settings.distributed_init_method and not settings.distributed_no_spawn:
            spawn(cfg, main, kwargs, on_cpu)
            return
    original(cfg, main, **kwargs)


def fill_in(settings: Config, on_cpu: bool) -> None:
    """Set the ranks and how they meet, before fairseq does; raise where options and launcher contradict each other."""
    launched = all(name in os.environ for name in LAUNCHED)
    if launched and settings.distributed_init_method in (None, "env://"):
        join_launched(settings, on_cpu)
    elif launched and int(os.environ["WORLD_SIZE"]) > 1 and not settings.distributed_no_spawn:
        raise UserError(
            f"--distributed-init-method {settings.distributed_init_method}, but torchrun started this process and says "
            "itself where the ranks meet: leave the option out"
        )
    elif settings.distributed_init_method is None and settings.distributed_world_size > 1:
        meet_on_this_machine(settings, on_cpu)
    check(settings, on_cpu)
    if on_cpu and settings.distributed_init_method and settings.distributed_backend == "nccl":
        logger.info("ranks on the CPU talk through gloo: nccl, the default --distributed-backend, needs GPUs")
        settings.distributed_backend = "gloo"


def join_launched(settings: Config, on_cpu: bool) -> None:
    if "TORCHELASTIC_RUN_ID" in os.environ:
        die_with_torchrun()  # else the processes of a killed torchrun train on beside the next ones
    ranks = int(os.environ["WORLD_SIZE"])
    world_size = settings.distributed_world_size
    if world_size not in (1, torch.cuda.device_count(), ranks):  # the default is 1 or all GPUs, by command
        raise UserError(
            f"--distributed-world-size {world_size}, but WORLD_SIZE={ranks}: torchrun started {ranks} processes; leave "
            f"the option out, or start {world_size}"
        )
    settings.distributed_init_method = "env://" if ranks > 1 else None
    settings.distributed_world_size = ranks
    settings.distributed_rank = int(os.environ["RANK"])
    settings.distributed_no_spawn = True
    local_rank = int(os.environ.get("LOCAL_RANK", os.environ["RANK"]))
    settings.device_id = 0 if on_cpu else local_rank % torch.cuda.device_count()


def die_with_torchrun() -> None:
    """Let this rank die with torchrun, and end it if torchrun has ended already, whose store is then closed."""
    die_with_parent()
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        host, port = os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]
        try:
            socket.create_connection((host, int(port)), timeout=seconds()).close()
        except OSError as error:
            raise UserError(f"no torchrun answers at {host}:{port} ({error}): it has ended; start it again") from error


def meet_on_this_machine(settings: Config, on_cpu: bool) -> None:
    """Set a meeting point on this machine; unlike fairseq also for the CPU, or --distributed-port without SLURM."""
    slurm_tasks = int(os.environ.get("SLURM_NTASKS", "1"))
    if slurm_tasks > 1 or not (on_cpu or settings.distributed_port > 0):
        distributed_utils.infer_init_method(settings)
    else:
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            free_port = probe.getsockname()[1]
        port = settings.distributed_port if settings.distributed_port > 0 else free_port
        settings.distributed_init_method = f"tcp://localhost:{port}"


def check(settings: Config, on_cpu: bool) -> None:
    ranks, rank = settings.distributed_world_size, settings.distributed_rank
    if not 0 <= rank < ranks:
        raise UserError(f"--distributed-rank {rank} of --distributed-world-size {ranks}: ranks go from 0 to one less")
    if ranks > 1 and settings.distributed_init_method is None:
        raise UserError(f"--distributed-world-size {ranks}, but no --distributed-init-method says where ranks meet")
    if on_cpu and rank > 0 and not settings.distributed_no_spawn:
        raise UserError(
            f"--distributed-rank {rank}: on the CPU all {ranks} ranks are started on one machine, from rank 0; for "
            "several machines use torchrun, or add --distributed-no-spawn and start every rank yourself"
        )


def spawn(cfg: Config, main: Callable[..., None], kwargs: Mapping[str, object], on_cpu: bool) -> None:
    """Start one process per rank, on the CPU too, where fairseq would start one per GPU, that is none."""
    settings = cfg.distributed_training
    ranks, first = settings.distributed_world_size, 0 if on_cpu else settings.distributed_rank
    settings.distributed_rank = None  # fairseq's distributed_main then counts from start_rank
    arguments = (main, cfg, {**kwargs, "start_rank": first})
    number = ranks if on_cpu else min(torch.cuda.device_count(), ranks)
    start: Callable[..., object] = start_processes  # which torch does not annotate
    start(run_rank, arguments, nprocs=number)


def run_rank(index: int, main: Callable[..., None], cfg: Config, kwargs: Mapping[str, object]) -> None:
    """Run a rank. A new process imports this module to find the function, and so has the patches; it would not have
    them with fairseq's distributed_main."""
    die_with_parent()
    try:
        distributed_utils.distributed_main(index, main, cfg, kwargs)
    except Exception as error:  # the parent process reads the last line of the traceback
        raise UserError(f"rank {index}: {error_messages.message_of(error)}") from error


@patch(distributed_fairseq_model, "DistributedDataParallel")
def wrap_models_on_the_cpu(original: Original, module: torch.nn.Module, **options: Any) -> Any:
    """Name no GPU to DistributedDataParallel on the CPU.

    fairseq names one, which torch refuses. This is with --ddp-backend pytorch_ddp
    (models/distributed_fairseq_model.py).
    """
    if all(parameter.device.type == "cpu" for parameter in module.parameters()):
        options = {**options, "device_ids": None, "output_device": None}
    return original(module=module, **options)


@patch(Trainer, "train_step")
def leave_out_missing_batches(original: Original, trainer: Any, samples: list[Any], raise_oom: bool = False) -> Any:
    """Leave out a rank's last batch where an epoch's batches do not go round.

    fairseq then counts none of that rank's other batches of `--update-freq`, but adds their gradients (trainer.py).
    """
    together = trainer.is_fsdp or getattr(trainer.cfg.model, "base_layers", 0)  # ranks compute each batch together
    batches = samples if together else [batch for batch in samples if batch] or samples[:1]
    return original(trainer, batches, raise_oom)


def end_waiting_ranks() -> None:
    """End a rank by SIGTERM at --heartbeat-timeout.

    fairseq sends SIGINT, which a rank that waits for a lost machine never handles. Python handles it only after the
    collective operation that the rank waits in (distributed/distributed_timeout_wrapper.py).
    """
    original = distributed_fairseq_model.DistributedTimeoutWrapper
    distributed_fairseq_model.DistributedTimeoutWrapper = functools.partial(original, signal=signal.SIGTERM)
