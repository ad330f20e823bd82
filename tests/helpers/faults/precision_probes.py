"""Probes of compat_probes.py that ask about precisions and moving averages."""

import math
import warnings
from argparse import Namespace
from functools import partial
from typing import Any
from unittest import mock

import torch
from fairseq import optim, options
from fairseq.dataclass.configs import EMAConfig
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models.ema.ema import EMA
from fairseq.tasks.fairseq_task import FairseqTask
from fairseq.tasks.multilingual_translation import MultilingualTranslationTask
from torch import nn


def tpu_of_bf16() -> list[bool]:
    """Return the value of --tpu with --bf16 alone, and with --tpu beside it."""
    commands = (["data", "--arch", "transformer", "--bf16"], ["data", "--arch", "transformer", "--bf16", "--tpu"])
    return [options.parse_args_and_arch(options.get_training_parser(), command).tpu for command in commands]


def product_under_amp_on_a_cpu() -> str:
    return product_under_amp(FairseqTask, ModelOfAWeight(), torch.ones(2, 3))


def product_of_languages_under_amp_on_a_cpu() -> str:
    model = ModelOfAWeight()
    model.models = torch.nn.ModuleDict({"a-b": ModelOfAWeight()})
    return product_under_amp(MultilingualTranslationTask, model, {"a-b": torch.ones(2, 3)})


def product_under_amp(kind: type[FairseqTask], model: torch.nn.Module, samples: Any) -> str:
    """Return the type of a product in a step of training."""
    dtypes = []
    task = kind.__new__(kind)
    task.model_lang_pairs, task.args = ["a-b"], Namespace(distributed_world_size=1)

    def criterion(model: torch.nn.Module, sample: torch.Tensor) -> tuple[torch.Tensor, int, dict[str, float]]:
        output = model(sample)
        dtypes.append(str(output.dtype))
        return output.float().sum(), 1, {}

    task.train_step(samples, model, criterion, wrapped("--amp", model), 1)
    return dtypes[0]


def warnings_of_amp_on_a_cpu() -> int:
    """Count the warnings that there is no CUDA for the scale, and none for autocast."""
    with warnings.catch_warnings(record=True) as shown:
        product_under_amp_on_a_cpu()
    return sum("CUDA is not available" in str(warning.message) for warning in shown)


def infinite_gradient_under_amp_on_a_cpu() -> str:
    model = ModelOfAWeight()
    optimizer = wrapped("--amp", model)
    model.weight.grad = torch.full_like(model.weight, math.inf)
    try:
        optimizer.clip_grad_norm(0.0)
    except Exception as error:
        return type(error).__name__
    return "goes on"


def step_under_a_scale_of_amp() -> float:
    """Return how far gradient descent moves a weight whose gradient is 1, at a learning rate of 1."""
    model = ModelOfAWeight()
    before = model.weight.detach().clone()
    optimizer = scaled("--optimizer", "sgd", "--lr", "1", model=model)
    optimizer.backward(model.weight.sum())
    optimizer.clip_grad_norm(0.0)
    optimizer.step()
    return round(float((before - model.weight).mean()), 4)


def scales_of_amp() -> list[float]:
    """Return the scale of --amp-init-scale 64 at the start, and after each of two updates."""
    model = ModelOfAWeight()
    optimizer = scaled("--amp-init-scale", "64", "--amp-scale-window", "2", model=model)
    scales = [optimizer.scaler.get_scale()]
    for _ in range(2):
        optimizer.backward(model.weight.sum())
        optimizer.clip_grad_norm(0.0)
        optimizer.step()
        scales.append(optimizer.scaler.get_scale())
    return scales


def scale_of_amp_resumed() -> list[float]:
    """Return the scale, and its number of updates, of an optimiser that goes on from 8192 and 5."""
    model = ModelOfAWeight()
    optimizer, resumed = (scaled(model=model) for _ in range(2))
    optimizer.scaler.load_state_dict({**optimizer.scaler.state_dict(), "scale": 8192.0, "_growth_tracker": 5})
    resumed.load_state_dict(optimizer.state_dict())
    return [resumed.scaler.get_scale(), resumed.scaler.state_dict()["_growth_tracker"]]


def scaled(*words: str, model: torch.nn.Module) -> optim.AMPOptimizer:
    """fairseq's optimiser of --amp with the scale of a GPU's; the scaler that has it is the same on a CPU."""
    with mock.patch.object(torch.cuda.amp, "GradScaler", partial(torch.amp.GradScaler, "cpu")):
        return wrapped("--amp", model, *words)


def fp32_weights_resumed() -> bool:
    """Return whether an optimiser made of the rounded weights and the state has the weights that were updated."""
    before, after = (ModelOfAWeight().bfloat16() for _ in range(2))
    optimizer = wrapped("--bf16", before)
    before.weight.grad = torch.ones_like(before.weight)
    optimizer._needs_sync = True
    optimizer.step()
    after.load_state_dict(before.state_dict())
    resumed = wrapped("--bf16", after)
    resumed.load_state_dict(optimizer.state_dict())
    return torch.equal(resumed.fp32_params[0], optimizer.fp32_params[0])


class ModelOfAWeight(torch.nn.Linear):
    def __init__(self) -> None:
        torch.manual_seed(1)
        super().__init__(3, 2, bias=False)

    def set_num_updates(self, _: int) -> None:
        pass


def wrapped(precision: str, model: torch.nn.Module, *options_too: str) -> Any:
    """fairseq's optimiser of a precision around Adam, unless the options say another."""
    words = ["data", "--arch", "transformer", "--optimizer", "adam", "--lr", "0.001", precision, *options_too]
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    kind = optim.AMPOptimizer if precision == "--amp" else optim.FP16Optimizer
    return kind.build_optimizer(config, list(model.parameters()))


class Tiny(nn.Module):
    """Weights of one name and of two, a flag, and a buffer that the first forward pass writes."""

    written_once = ("profile",)

    def __init__(self) -> None:
        super().__init__()
        self.one, self.tied = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
        self.tied_again = self.tied
        self.register_buffer("profile", torch.tensor(1.0))
        nn.init.zeros_(self.one.weight)
        nn.init.zeros_(self.tied.weight)


def averaged(dtype: torch.dtype = torch.float32, in_fp32: bool = False) -> list[float]:
    """0 before, 1 after, decay 1/2, and a profile of 1 that becomes 3: [one name, two names, profile]."""
    model = Tiny().to(dtype)
    average = EMA(model, EMAConfig(store_ema=True, ema_decay=0.5, ema_fp32=in_fp32))
    nn.init.ones_(model.one.weight)
    nn.init.ones_(model.tied.weight)
    model.profile.fill_(3)
    average.step(model, 1)
    averaged_model = average.get_model()
    return [averaged_model.one.weight.item(), averaged_model.tied_again.weight.item(), averaged_model.profile.item()]


def averaged_in_half_precision() -> list[float]:
    return averaged(torch.bfloat16, in_fp32=True)


def updates_averaged_once_resumed() -> list[int]:
    """Return which updates after the third --ema-update-freq 2 takes; without interruption they are even."""
    model = Tiny()
    average = EMA(model, EMAConfig(store_ema=True, ema_update_freq=2))
    updates = []
    with mock.patch.object(average, "_step_internal", lambda _, update: updates.append(update)):
        for update in range(4, 8):
            average.step(model, update)
    return updates


def flag_in_average() -> bool:
    model = nn.Module()
    model.register_buffer("written", torch.tensor(False))
    average = EMA(model, EMAConfig(store_ema=True))
    model.written.fill_(True)
    average.step(model, 1)
    return bool(average.get_model().written)
