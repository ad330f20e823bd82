"""Weights and inputs that two programs make alike: each is drawn from its name, so that only outputs are stored."""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn

Outputs = dict[str, Tensor]
Filled = TypeVar("Filled", bound=nn.Module)
WIDTH, HEADS, FFN_WIDTH, LAYERS = 8, 2, 12, 3
SHAPE = (2, 3, WIDTH)  # B x T x C


def numbers(name: str, *shape: int) -> Tensor:
    """Draw from N(0, 1/4) by numpy's frozen generator, whose numbers no version changes."""
    drawn = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape)
    return torch.tensor(0.5 * drawn).float()


def fill(module: Filled, names: Mapping[str, str] | None = None) -> Filled:
    """Give each parameter the numbers of its name, in which `names` replace theirs by ours.

    `(q|k|v)_proj.weight` is one parameter for three of ours, as the joint projection of torch and fairseq is.
    """
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            for old, new in {**(names or {}), "in_proj_": "(q|k|v)_proj."}.items():
                name = name.replace(old, new)
            before, *joint = re.split(r"[()]", name)
            parts = [before + part + joint[1] for part in joint[0].split("|")] if joint else [name]
            for part, rows in zip(parts, parameter.chunk(len(parts)) if joint else [parameter], strict=True):
                rows.copy_(numbers(part, *rows.shape))
    return module.eval()


def passed(run: Callable[[Tensor], Tensor], name: str = "output") -> Outputs:
    """Return what comes of B x T x C, and the gradient of B x T x C, which stops where code detaches."""
    x = numbers("input", *SHAPE).requires_grad_()
    output = run(x)
    (gradient,) = torch.autograd.grad((output * numbers("gradient", *output.shape)).sum(), x)
    return {name: output.detach(), f"{name}_gradient": gradient}


@contextmanager
def largest_draws() -> Iterator[None]:
    """Let each initialisation draw the bound of a uniform distribution, and one deviation of a normal one."""

    def uniform(x: Tensor, _low: float = 0.0, high: float = 1.0, **_options: object) -> Tensor:
        return x.fill_(high)

    def normal(x: Tensor, mean: float = 0.0, std: float = 1.0, **_options: object) -> Tensor:
        return x.fill_(mean + std)

    with patch.object(Tensor, "uniform_", uniform), patch.object(Tensor, "normal_", normal):
        yield


def bounds(name: str, layers: nn.ModuleList, *matrices: str) -> Outputs:
    """Return the initial weights of each matrix, one number per layer."""
    return {
        f"{name}_{matrix}": torch.stack([layer.get_submodule(matrix).weight.detach().max() for layer in layers])
        for matrix in matrices
    }


def factors(scaled: Outputs, plain: Outputs) -> Outputs:
    """Return by what a scheme multiplies the initial weights, wherever these start from."""
    return {name: scaled[name] / plain[name] for name in scaled}
