"""Release of a model's weights in fp32 when it decodes in another precision."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn


def release(model: nn.Module) -> None:
    """Release the weights of products, and round embeddings to fp16, by 0.05 % at most."""
    for module in model.modules():
        if type(module) is nn.Embedding:
            _halve(module)
        else:
            release_weights: Callable[[], None] = getattr(module, "release", _keep)
            release_weights()


def _keep() -> None:
    """Do nothing: the module has its weights in one form only."""


def _halve(embedding: nn.Embedding) -> None:
    embedding.weight = nn.Parameter(embedding.weight.detach().half(), requires_grad=False)
    vars(embedding)["forward"] = functools.partial(_look_up, embedding)


def _look_up(embedding: nn.Embedding, words: Tensor) -> Tensor:
    return torch.nn.functional.embedding(words, embedding.weight).float()
