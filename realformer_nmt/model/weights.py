"""Checks of weights before a model loads them: size, dictionary, type, NaN, sharing."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.common.errors import UserError

NAMED = 3  # names in a message


class WeightsError(UserError):
    """Error about weights; the caller adds the name of their file."""


def check_finite(weights: Mapping[str, Tensor]) -> None:
    for name, weight in weights.items():
        if not isinstance(weight, Tensor):
            raise WeightsError(f"holds no weights: its {name} is a {type(weight).__name__}")
        if not torch.isfinite(weight).all():
            raise WeightsError(f"holds NaN or infinity in {name}: the training diverged; take a checkpoint from before")


def check_sharing(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Check that what is one tensor in the model is so in the weights; torch would load the last and lose the rest."""
    first_names: dict[int, str] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first = first_names.setdefault(id(tensor), name)
        if first != name and {first, name} <= weights.keys() and not torch.equal(weights[first], weights[name]):
            raise WeightsError(
                f"holds the weights of another model: its {first} and {name} differ, and this model has one tensor for "
                "both; give one that was trained with the same --share options, or train without them"
            )


@contextlib.contextmanager
def checked(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Check weights that a model is about to load, and raise one short error if it cannot load them.

    torch lists every parameter on a separate line.
    """
    check_finite(weights)
    try:
        check_sharing(model, weights)
        yield
    except RuntimeError as error:
        raise WeightsError(unlike(model.state_dict(), weights) or str(error)) from error


def unlike(model: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> str:
    missing, excess = sorted(model.keys() - weights.keys()), sorted(weights.keys() - model.keys())
    other = [name for name in model if name in weights and model[name].shape != weights[name].shape]
    reasons = [f"it lacks {_some(missing)}"] if missing else []
    reasons += [f"it has {_some(excess)}, which the model has not"] if excess else []
    for name in other[:1]:
        there, here = (tuple(tensors[name].shape) for tensors in (weights, model))
        kind = "another dictionary" if "embed_tokens" in name and there[1:] == here[1:] else "another size"
        reasons.append(f"its {name} is {there}, the model's {here}: {kind}")
    advice = "give one of the same architecture, size and dictionary"
    return f"holds the weights of another model: {'; '.join(reasons)}; {advice}" if reasons else ""


def _some(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
