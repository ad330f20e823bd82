"""Activations by their names: fairseq's, and swish, which fairseq does not list and cannot run."""

from collections.abc import Callable

from fairseq import utils
from torch import Tensor
from torch.nn.functional import silu

Activation = Callable[[Tensor], Tensor]
OWN: dict[str, Activation] = {"swish": silu}  # x sigmoid(x): Ramachandran et al. 2017
ACTIVATIONS = (*utils.get_available_activation_fns(), *OWN)


def activation(name: str) -> Activation:
    by_fairseq: Activation = OWN.get(name) or utils.get_activation_fn(name)
    return by_fairseq
