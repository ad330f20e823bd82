"""The base class that prepares a model for decoding."""

import functools
from collections.abc import Callable
from typing import Any

from fairseq.models import BaseFairseqModel
from torch import Tensor, nn
from torch.nn.functional import embedding

from realformer_nmt.common.errors import UserError
from realformer_nmt.kernels.linear import RELEASED
from realformer_nmt.kernels.precision import EXACT


class DecodingModel(BaseFairseqModel):
    """Model whose layers, when it decodes, multiply in the precision that it was built with."""

    decoding_precision = EXACT
    _released = False

    def make_generation_fast_(self, name: str | None = None, **options: Any) -> None:
        """Prepare for decoding; a model with a name is inside another, which prepares its layers itself."""
        if name is None:
            options = {"precision": self.decoding_precision, **options}
            super().make_generation_fast_(**options)
            if options["precision"] != EXACT:
                release(self)
                self._released = True

    def state_dict(self, *args: Any, **options: Any) -> Any:
        if self._released:
            raise UserError(RELEASED)
        return super().state_dict(*args, **options)


def release(model: nn.Module) -> None:
    """Release the weights of products, and round embeddings to fp16, by 0.05 % at most."""
    for module in model.modules():
        release_weights: Callable[[], None] | None = getattr(module, "release", None)
        if type(module) is nn.Embedding:
            _halve(module)
        elif release_weights is not None:
            release_weights()


def _halve(words: nn.Embedding) -> None:
    words.weight = nn.Parameter(words.weight.detach().half(), requires_grad=False)
    vars(words)["forward"] = functools.partial(_look_up, words)


def _look_up(words: nn.Embedding, numbers: Tensor) -> Tensor:
    return embedding(numbers, words.weight).float()
