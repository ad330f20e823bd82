"""A recorder of steps for any device: it repeats the operations that torch dispatched, with their tensors and numbers.

As with a CUDA graph, a recording has no effect, and what Python computed meanwhile is a constant.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Operations(TorchDispatchMode):
    """The operations of a block, and what tensors from before it held when the block first wrote to them."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Any, Any, Any, list[Tensor]]] = []
        self.before: dict[int, tuple[Tensor, Tensor]] = {}
        self.created: set[int] = set()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for argument, value in zip(operation._schema.arguments, args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                for tensor in tree_leaves(value):
                    self.keep(tensor)
        result = operation(*args, **kwargs)
        is_new = all(each.alias_info is None for each in operation._schema.returns)
        fresh = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)] if is_new else []
        self.created.update(storage(tensor) for tensor in fresh)
        self.done.append((operation, args, kwargs, fresh))
        return result

    def keep(self, tensor: Tensor) -> None:
        key = storage(tensor)
        if key not in self.created and key not in self.before:
            self.before[key] = tensor, tensor.detach().clone()


def storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


class StandInRecorder:
    def warm_up(self, run: Callable[[], object]) -> None:
        run()

    def record(self, run: Callable[[], object]) -> Callable[[], None]:
        with Operations() as operations:
            run()
        with torch.no_grad():
            for tensor, value in operations.before.values():
                tensor.detach().copy_(value)

        def replay() -> None:
            with torch.no_grad():
                for operation, args, kwargs, outputs in operations.done:
                    result = tree_leaves(operation(*args, **kwargs))
                    for output, value in zip(outputs, result, strict=False):
                        if value is not output:
                            output.detach().copy_(value)

        return replay
