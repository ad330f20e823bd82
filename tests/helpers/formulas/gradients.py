"""Parameters of several shapes, and gradients for them that depend on the step only."""

import torch

SHAPES = [(), (7,), (5, 3), (2, 3, 4)]


def parameters(dtype: torch.dtype = torch.float32) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    values = [torch.randn(shape, generator=generator) for shape in SHAPES]
    values.append(torch.randn(4, 6, generator=generator).t())  # strides of a transposed matrix
    return [torch.nn.Parameter(value.to(dtype)) for value in values]


def give_gradients(to: list[torch.nn.Parameter], step: int) -> None:
    """The same for every list of parameters, up to the rounding of their type."""
    generator = torch.Generator().manual_seed(100 + step)
    for parameter in to:
        gradient = torch.randn(parameter.shape, generator=generator).to(torch.bfloat16)
        parameter.grad = torch.empty_like(parameter).copy_(gradient)
