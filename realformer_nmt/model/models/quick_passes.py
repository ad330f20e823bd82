"""The base class that speeds up what fairseq makes every module do at every update."""

from collections.abc import Iterator
from typing import TypeVar

from fairseq.models import BaseFairseqModel, FairseqEncoder
from torch import nn

Model = TypeVar("Model", bound="QuickPasses")


class QuickPasses(BaseFairseqModel):
    """Model that sets its mode and passes on the number of updates quickly: a deep model has a thousand modules."""

    def train(self: Model, mode: bool = True) -> Model:
        """Set the mode of all modules, unless all have it, as at nearly every update."""
        return self if all(module.training is mode for module in modules(self)) else super().train(mode)

    def set_num_updates(self, num_updates: int) -> None:
        """Pass the number to each module that uses it; fairseq's models and encoders only pass it on."""
        for module in modules(self):
            tell = getattr(type(module), "set_num_updates", None)
            if tell and not isinstance(module, BaseFairseqModel | FairseqEncoder):
                tell(module, num_updates)


def modules(root: nn.Module) -> Iterator[nn.Module]:
    """Yield a module and all below it, in less time than torch's `modules`; a shared one several times."""
    waiting: list[nn.Module | None] = [root]
    while waiting:
        module = waiting.pop()
        if module is not None:
            yield module
            waiting.extend(module._modules.values())
