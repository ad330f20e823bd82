"""ADMIN's profile, taken inside the run: one forward pass over the first training batch."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
from fairseq.distributed import utils as distributed_utils
from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Profiled, Shortcut

logger = logging.getLogger(__name__)


def shortcuts(stack: nn.Module) -> list[tuple[str, Shortcut]]:
    """Return name and shortcut of every sub-layer of a stack, in the order in which they run."""
    return [(name, module) for name, module in stack.named_modules() if isinstance(module, Shortcut)]


def is_pending(model: nn.Module) -> bool:
    """Tell whether a model has weights to profile and all of them still are 1, as they were built."""
    weights = [module.w0 for module in model.modules() if isinstance(module, Profiled)]
    return bool(weights) and all(bool(w0 == 1) for w0 in weights)


def profile(stacks: list[nn.Module], run: Callable[[], object]) -> None:
    """Set every w0 of each stack by one pass of `run`, the same on all ranks.

    ADMIN (Liu et al. 2020), section 4.2, for each stack: w of the first sub-layer is 1; after every sub-layer
    r = sqrt(var(w * x) + var(f(x))), and r is the w of the next one. As in the authors' code, a variance is over all n
    elements, including padding, and divides by n.
    """
    with torch.no_grad(), ExitStack() as hooks:
        for stack in stacks:
            hooks.enter_context(_profiling(stack))
        run()
        _agree([module for stack in stacks for module in stack.modules() if isinstance(module, Profiled)])
        for stack in stacks:
            weights = ", ".join(f"{float(shortcut.weight().mean()):.3f}" for _, shortcut in shortcuts(stack))
            logger.info("ADMIN profile of the first batch, %s: w = %s", type(stack).__name__.lower(), weights)


@contextmanager
def _profiling(stack: nn.Module) -> Iterator[None]:
    r = torch.ones(())

    def measure(shortcut: Shortcut, _module: nn.Module, inputs: tuple[Tensor, Tensor]) -> None:
        nonlocal r
        x, branch = inputs
        if isinstance(shortcut, Profiled):
            shortcut.w0.copy_(r)
        weighed = shortcut.weight().float() * x.float()
        r = (weighed.var(correction=0) + branch.float().var(correction=0)).sqrt()

    handles = [shortcut.register_forward_pre_hook(partial(measure, shortcut)) for _, shortcut in shortcuts(stack)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _agree(profiled: list[Profiled]) -> None:
    """Copy the profile of rank 0 to all ranks, which would otherwise train different models."""
    weights = torch.stack([shortcut.w0.float() for shortcut in profiled])
    if torch.distributed.is_initialized():
        distributed_utils.broadcast(weights, src=0, group=distributed_utils.get_data_parallel_group())
    if not weights.isfinite().all():
        raise FloatingPointError(
            "ADMIN's profile overflows: no norm keeps the stream within bounds, so the weights of its shortcuts "
            "multiply from sub-layer to sub-layer; use --residual-topology post or dual with a norm, or fewer layers"
        )
    for shortcut, weight in zip(profiled, weights, strict=True):
        shortcut.w0.copy_(weight)
