"""--optimizer radam: rectified Adam, one pass over memory per step."""

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypedDict, cast

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer, register_optimizer
from omegaconf import II
from torch import Tensor
from torch.optim.optimizer import ParamsT, StateDict

from realformer_nmt.common.errors import OptionError

TRACTABLE = 5.0  # the published code's bound on rho; the paper's own is 4
AVERAGES = ("exp_avg", "exp_avg_sq")  # of a parameter's gradients, and of their squares
# Values, gradients, means and squares of parameters that one kernel updates together, in fp32 or fp64
Batch = tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]


def rectification(step: int, beta2: float) -> float | None:
    """r_t of RAdam, or None while the variance of the step size is untractable (rho_t <= 5)."""
    longest = 2 / (1 - beta2) - 1
    decay = beta2**step
    rho = longest - 2 * step * decay / (1 - decay)
    if rho <= TRACTABLE:
        return None
    return math.sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))


class ParameterSettings(TypedDict):
    """Settings of a group of parameters."""

    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    untractable_momentum: bool


class RAdam(torch.optim.Optimizer):
    r"""Rectified Adam (Liu et al. 2020, arXiv 1908.03265, algorithm 2), with decoupled weight decay $\lambda$.

    m_t = b1 m_{t-1} + (1 - b1) g_t                   v_t = b2 v_{t-1} + (1 - b2) g_t^2
    rho_inf = 2 / (1 - b2) - 1                        rho_t = rho_inf - 2 t b2^t / (1 - b2^t)
    r_t = sqrt((rho_t - 4) (rho_t - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho_t))

    rho_t > 5:  p_t = (1 - lr lambda) p_{t-1} - lr r_t m_t / (1 - b1^t) * sqrt(1 - b2^t) / (sqrt(v_t) + eps)
    otherwise:  p_t = (1 - lr lambda) p_{t-1}, as in ADMIN's code, or with `untractable_momentum`, as in
                torch.optim.RAdam, p_t = (1 - lr lambda) p_{t-1} - lr m_t / (1 - b1^t)

    That is AdamW with the step size lr r_t, so torch's fused AdamW kernel computes it. m and v are fp32 for parameters
    of 16 bits, whose update is rounded once, at the end.
    """

    supports_memory_efficient_fp16 = True
    supports_flat_params = True
    disable_mem_eff_fp16_loading_hack = True  # load_state_dict below keeps the state in fp32, on the right device

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        untractable_momentum: bool = False,
    ) -> None:
        if not (0 <= betas[0] < 1 and 2 / 3 < betas[1] < 1):
            raise OptionError(
                f"RAdam was given the betas {betas}: the first must lie in [0, 1), the second between 2/3 and 1 "
                "(below, the variance never becomes tractable); pass e.g. --adam-betas '(0.9, 0.98)'"
            )
        settings = ParameterSettings(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, untractable_momentum=untractable_momentum
        )
        super().__init__(params, {**settings})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameters in self._batches(group["params"]):
                self._update(parameters, cast(ParameterSettings, group))
        return loss

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load the state as it was saved; torch would cast it to its parameter's type, rounding it to 16 bits."""
        super().load_state_dict(state_dict)
        states = state_dict["state"]
        saved = chain.from_iterable(group["params"] for group in state_dict["param_groups"])
        parameters = chain.from_iterable(group["params"] for group in self.param_groups)
        for key, parameter in zip(saved, parameters, strict=True):
            for name in AVERAGES if key in states else ():
                average = states[key][name]
                self.state[parameter][name] = average.to(parameter.device, _wide(parameter.dtype))

    def _batches(self, parameters: list[Tensor]) -> list[list[Tensor]]:
        """Return the parameters with a gradient in lists for one kernel; those of 16 bits are alone, to be copied."""
        batches: dict[Any, list[Tensor]] = defaultdict(list)
        for index, parameter in enumerate(parameters):
            if parameter.grad is None:
                continue
            state, wide = self.state[parameter], _wide(parameter.dtype)
            if not state:
                state.update(step=0, **{name: torch.zeros_like(parameter, dtype=wide) for name in AVERAGES})
            alone = None if wide == parameter.dtype else index
            batches[parameter.device, parameter.dtype, state["step"], alone].append(parameter)
        return list(batches.values())

    def _update(self, parameters: list[Tensor], group: ParameterSettings) -> None:
        states = [self.state[parameter] for parameter in parameters]
        for state in states:
            state["step"] += 1
        values = [parameter.to(_wide(parameter.dtype)) for parameter in parameters]  # no copy of wide ones
        gradients = [_like(v, p.grad) for v, p in zip(values, parameters, strict=True) if p.grad is not None]
        means, squares = ([state[name] for state in states] for name in AVERAGES)
        batch = values, gradients, means, squares
        rectified = rectification(states[0]["step"], group["betas"][1])
        if rectified is None:
            _untractable_step(batch, states[0]["step"], group)
        else:
            _rectified_step(batch, states[0]["step"], rectified, group)
        if values[0] is not parameters[0]:
            torch._foreach_copy_(parameters, values)


def _rectified_step(batch: Batch, step: int, rectified: float, group: ParameterSettings) -> None:
    """Update by AdamW's kernel, which divides by sqrt(v / (1 - b2^t)) + eps and decays by lr times weight decay."""
    beta1, beta2 = group["betas"]
    count = torch.full((), float(step), device=batch[0][0].device)
    torch._fused_adamw_(
        *batch,
        [],
        [count] * len(batch[0]),
        lr=group["lr"] * rectified,
        beta1=beta1,
        beta2=beta2,
        weight_decay=group["weight_decay"] / rectified,
        eps=group["eps"] / math.sqrt(1 - beta2**step),
        amsgrad=False,
        maximize=False,
    )


def _untractable_step(batch: Batch, step: int, group: ParameterSettings) -> None:
    values, gradients, means, squares = batch
    beta1, beta2 = group["betas"]
    torch._foreach_lerp_(means, gradients, 1 - beta1)
    torch._foreach_mul_(squares, beta2)
    torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
    torch._foreach_mul_(values, 1 - group["lr"] * group["weight_decay"])
    if group["untractable_momentum"]:
        torch._foreach_add_(values, means, alpha=-group["lr"] / (1 - beta1**step))


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def _like(value: Tensor, gradient: Tensor) -> Tensor:
    """Return a gradient with the strides of its parameter, since the fused CPU kernel ignores strides."""
    if gradient.dtype == value.dtype and gradient.stride() == value.stride():
        return gradient
    return torch.empty_like(value).copy_(gradient)


@dataclass
class RAdamConfig(FairseqDataclass):
    adam_betas: Any = field(default=(0.9, 0.999), metadata={"help": "betas of RAdam, e.g. '(0.9, 0.98)'"})
    adam_eps: float = field(default=1e-8, metadata={"help": "epsilon of RAdam"})
    weight_decay: float = field(default=0.0, metadata={"help": "decoupled weight decay: p -= lr * weight_decay * p"})
    radam_untractable_momentum: bool = field(
        default=False,
        metadata={
            "help": "in the first few updates, while the variance is untractable (rho <= 5), step by the mean of the "
            "gradients, as torch.optim.RAdam does; the default is no step there, as in ADMIN's RAdam"
        },
    )
    lr: list[float] = II("optimization.lr")


@register_optimizer("radam", dataclass=RAdamConfig)
class FairseqRAdam(FairseqOptimizer):
    """RAdam for fairseq, with the flags of fairseq's Adam.

    The FP16 wrappers scale the gradients themselves: fairseq's step(scale=) is not used, as its FP16Optimizer never
    resets that scale under --bf16.
    """

    def __init__(self, cfg: RAdamConfig, params: Iterable[Tensor]) -> None:
        super().__init__(cfg)
        self._optimizer = RAdam(params, **self.optimizer_config)

    @property
    def optimizer_config(self) -> ParameterSettings:
        return {
            "lr": self.cfg.lr[0],
            "betas": _two_betas(self.cfg.adam_betas),
            "eps": self.cfg.adam_eps,
            "weight_decay": self.cfg.weight_decay,
            "untractable_momentum": self.cfg.radam_untractable_momentum,
        }


def _two_betas(betas: Any) -> tuple[float, float]:
    try:
        beta1, beta2 = map(float, ast.literal_eval(betas) if isinstance(betas, str) else betas)
    except (ValueError, TypeError, SyntaxError):
        raise OptionError(f"--adam-betas was given {betas!r}: it takes two numbers, e.g. '(0.9, 0.98)'") from None
    return beta1, beta2
