"""Arguments that nobody would give a kernel: other types, shapes, strides, devices and values."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from reliability.native_chance import Chance

DTYPES = (
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.float32,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.complex64,
)
NUMBERS = (0, -1, 1, 2, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**64, None, 1.5, float("nan"), "1", True)


class Marked(torch.Tensor):
    """A tensor of another class, whose numbers are as plain as any."""


def other_type(tensor: Tensor, chance: Chance) -> Tensor:
    return tensor.to(chance.choice([dtype for dtype in DTYPES if dtype is not tensor.dtype]))


def other_device(tensor: Tensor, _chance: Chance) -> Tensor:
    return tensor.to("meta")


def other_layout(tensor: Tensor, chance: Chance) -> Tensor:
    return tensor.to_sparse() if chance.happens(0.5) else tensor.to_sparse_coo()


def other_class(tensor: Tensor, chance: Chance) -> Tensor:
    if tensor.is_floating_point() and chance.happens(0.3):
        return torch.nn.Parameter(tensor, requires_grad=False)
    return tensor.as_subclass(Marked)


def no_tensor(tensor: Tensor, chance: Chance) -> Any:
    return chance.choice([None, 3, 1.5, "tensor", [1.0, 2.0], (), tensor.tolist(), torch.float32])


def other_size(tensor: Tensor, chance: Chance) -> Tensor:
    """One dimension is shorter, longer or empty."""
    if not tensor.dim():
        return tensor.unsqueeze(0)
    dimension = chance.below(tensor.dim())
    size = tensor.size(dimension)
    new_size = chance.choice([0, max(0, size - 1), size + 1, 2 * size, size // 2])
    if new_size <= size:
        return tensor.narrow(dimension, chance.choice([0, size - new_size]), new_size).clone()
    if not size:
        return tensor.new_zeros([*tensor.shape[:dimension], new_size, *tensor.shape[dimension + 1 :]])
    return torch.cat([tensor] * 3, dimension).narrow(dimension, 0, new_size).clone()


def other_dimensions(tensor: Tensor, chance: Chance) -> Tensor:
    changed: list[Callable[[], Tensor]] = [
        lambda: tensor.unsqueeze(chance.below(tensor.dim() + 1)),
        tensor.flatten,
        lambda: tensor.flatten()[0] if tensor.numel() else tensor.new_zeros(()),
        lambda: tensor.flip(tuple(range(tensor.dim()))).mT if tensor.dim() > 1 else tensor,
        lambda: tensor.select(0, 0) if tensor.dim() and tensor.size(0) else tensor,
        lambda: tensor[(None,) * 6],
    ]
    return chance.choice(changed)()


def other_strides(tensor: Tensor, chance: Chance) -> Tensor:
    """The same numbers at other places in memory."""
    order = chance.some(range(tensor.dim()), tensor.dim())
    back = [order.index(dimension) for dimension in range(tensor.dim())]
    moved: list[Callable[[], Tensor]] = [
        lambda: tensor.permute(order).contiguous().permute(back),
        lambda: torch.stack([tensor, tensor], -1)[..., 1],
        lambda: torch.cat([tensor.flatten(), tensor.flatten()])[tensor.numel() :].view(tensor.shape),
        lambda: torch.cat([tensor, tensor], -1)[..., : tensor.size(-1)] if tensor.dim() else tensor,
    ]
    return chance.choice(moved)()


def repeated(tensor: Tensor, chance: Chance) -> Tensor:
    """The first part stands for all, without memory of their own."""
    if not tensor.numel() or not tensor.dim():
        return tensor
    dimension = chance.below(tensor.dim())
    return tensor.narrow(dimension, 0, 1).expand(tensor.shape)


def negated(tensor: Tensor, _chance: Chance) -> Tensor:
    """The same numbers, of which memory holds the opposite."""
    if tensor.dtype is not torch.float32:
        return tensor
    return torch.complex(torch.zeros_like(tensor), -tensor).conj().imag


def other_values(tensor: Tensor, chance: Chance) -> Tensor:
    """Whole numbers beyond what they may be."""
    if tensor.dtype in (torch.bool, torch.float32, torch.bfloat16) or not tensor.numel():
        return tensor
    limits = torch.iinfo(tensor.dtype)
    odd = [value for value in (-1, 100, 2**31, 2**40, limits.max, limits.min) if limits.min <= value <= limits.max]
    changed = tensor.clone()
    changed.view(-1)[chance.below(tensor.numel())] = chance.choice(odd)
    return changed


OF_TENSORS: tuple[Callable[[Tensor, Chance], Any], ...] = (
    other_type,
    other_device,
    other_layout,
    other_class,
    no_tensor,
    other_size,
    other_size,
    other_dimensions,
    other_strides,
    other_strides,
    repeated,
    negated,
    other_values,
    other_values,
)


def mutated(value: Any, chance: Chance) -> tuple[str, Any]:
    """Return how an argument was changed, and what it is now."""
    if not isinstance(value, Tensor):
        changed = chance.choice(NUMBERS)
        return f"= {changed!r}", changed
    mutation = chance.choice(OF_TENSORS)
    try:
        return mutation.__name__, mutation(value, chance)
    except (RuntimeError, NotImplementedError):  # torch cannot make such a tensor
        return "as it was", value
