"""One answer a probe, as JSON, from fairseq as it is or patched.

conftest.py's compat_answers runs main() in a process of its own, with FOLDER and stock or patched as its arguments.
fairseq_patches/test_patches.py holds the answers side by side: what stock fairseq does, and what the patch makes of it.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import checkpoint_utils, options
from fairseq.data import data_utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed_utils
from fairseq.logging import progress_bar
from fairseq.models.distributed_fairseq_model import DistributedFairseqModel
from fairseq.optim import FP16Optimizer
from torch import nn


class RunsCode:
    def __init__(self, folder: str):
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (self.folder,)


def sentences_batched() -> int:
    sizes = np.full(203, 5)
    return sum(
        map(
            len,
            data_utils.batch_by_size(
                range(203), sizes.__getitem__, sizes, max_tokens=200, required_batch_size_multiple=8
            ),
        )
    )


def tpu_of_bf16() -> list[bool]:
    """Return the value of --tpu with --bf16 alone, and with --tpu beside it."""
    commands = (["data", "--arch", "transformer", "--bf16"], ["data", "--arch", "transformer", "--bf16", "--tpu"])
    return [options.parse_args_and_arch(options.get_training_parser(), command).tpu for command in commands]


def fp32_weights_resumed() -> bool:
    """Return whether an optimiser made of the rounded weights and the state has the weights that were updated."""
    before, after = (ModelOfAWeight().bfloat16() for _ in range(2))
    optimizer = wrapped(before)
    before.weight.grad = torch.ones_like(before.weight)
    optimizer._needs_sync = True
    optimizer.step()
    after.load_state_dict(before.state_dict())
    resumed = wrapped(after)
    resumed.load_state_dict(optimizer.state_dict())
    return torch.equal(resumed.fp32_params[0], optimizer.fp32_params[0])


class ModelOfAWeight(nn.Linear):
    def __init__(self) -> None:
        torch.manual_seed(1)
        super().__init__(3, 2, bias=False)


def wrapped(model: nn.Module) -> FP16Optimizer:
    """Return fairseq's optimiser of --bf16 around Adam."""
    words = ["data", "--arch", "transformer", "--optimizer", "adam", "--lr", "0.001", "--bf16"]
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    return FP16Optimizer.build_optimizer(config, list(model.parameters()))


def lines_logged_in_three_epochs() -> list[int]:
    """Count each epoch's lines in --log-file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "log")
        disabled = logging.root.manager.disable
        logging.disable(logging.NOTSET)
        progress_bar.logger.setLevel(logging.INFO)
        for epoch in (1, 2, 3):
            bar = progress_bar.progress_bar([], log_format="json", log_file=str(file), epoch=epoch)
            bar.print({}, tag="train")
        for handler in list(progress_bar.logger.handlers):
            progress_bar.logger.removeHandler(handler)
            handler.close()
        logging.disable(disabled)
        return [file.read_text().count(f'"epoch": {epoch}') for epoch in (1, 2, 3)]


def root_logger_level() -> int:
    return logging.getLogger().level


def warnings_shown() -> list[str]:
    with warnings.catch_warnings(record=True) as shown:
        warnings.warn("`torch.cuda.amp.autocast(args...)` is deprecated.", FutureWarning, stacklevel=1)
        warnings.warn("`torch.cuda.amp.autocast(args...)` is mine.", UserWarning, stacklevel=1)
    return [warning.category.__name__ for warning in shown]


def good_loads_and_bad_does_not_run() -> bool:
    """torch before 2.6 ran the bad one, torch since refuses the good one."""
    with tempfile.TemporaryDirectory() as folder:
        good, bad, proof = (Path(folder, name) for name in ("good.pt", "bad.pt", "proof"))
        torch.save({"args": argparse.Namespace(arch="transformer"), "model": {}, "extra_state": {}}, good)
        torch.save({"model": RunsCode(str(proof))}, bad)
        loaded = [_answer(lambda path=path: bool(_load(path))) for path in (good, bad)]
        return loaded[0] is True and loaded[1] is not True and not proof.exists()


def _load(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return checkpoint_utils.torch.load(file, map_location="cpu")


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
TWO = ("--distributed-world-size", "2")
STARTS = {
    "torchrun": partial(_run_on, **LAUNCHED),
    "torchrun_with_world_size": partial(_run_on, *TWO, **LAUNCHED),
    "spawn": partial(_run_on, *TWO),
    "spawn_with_init_method": partial(_run_on, *TWO, "--distributed-init-method", "tcp://localhost:29600"),
    "spawn_with_port": partial(_run_on, *TWO, "--distributed-port", "29600"),
}
PROBES: tuple[Callable[[], Any], ...] = (
    sentences_batched,
    tpu_of_bf16,
    fp32_weights_resumed,
    lines_logged_in_three_epochs,
    root_logger_level,
    warnings_shown,
    good_loads_and_bad_does_not_run,
    model_on_the_cpu,
)


def _answer(probe: Callable[[], Any]) -> Any:
    try:
        return probe()
    except Exception:
        return "fails"  # how is another matter on another torch


def main() -> None:
    folder, which = sys.argv[1:]
    if which == "patched":
        from realformer_nmt import fairseq_patches

        fairseq_patches.apply()
        fairseq_patches.apply()  # changes nothing
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/{which}.ranks", rank=0, world_size=1)
    sys.argv[1:] = []
    logging.disable()
    probes: dict[str, Callable[[], Any]] = {probe.__name__: probe for probe in PROBES}
    probes |= STARTS if which == "stock" else {}  # patched ones would wait for their other rank
    print(json.dumps({name: _answer(probe) for name, probe in probes.items()}))
