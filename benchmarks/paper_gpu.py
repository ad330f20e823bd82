"""A GPU that is not there: its tensors have no values, and what they ask for is counted."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
from torch.utils.flop_counter import flop_registry

NAME = "papergpu"  # not "cuda", whose tensors take no gradient where torch was built without it
# Outputs that are memory only, or a view that the schema does not call one
NO_LAUNCH = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view", "promote_types"}
READS_ROWS = {"embedding", "index", "index_select", "gather", "scatter_add_", "index_add_"}  # not all of the first
WRITES_ALL = {"copy_", "fill_", "zero_"}  # and do not read what stood there
WAITS = {"_local_scalar_dense", "allclose", "equal", "nonzero", "masked_select"}  # for a value, or for how many
TRUE = {"_local_scalar_dense", "allclose", "equal"}  # for want of a value: is something padded, is all finite
attention = torch.ops.aten._scaled_dot_product_efficient_attention


class Chip(NamedTuple):
    """Peaks of the maker's data sheet: dense bf16 products with sums in fp32, and the memory's bandwidth."""

    flops: float  # a second
    bytes: float  # a second


CHIPS = {"A100": Chip(312e12, 2.039e12), "H100": Chip(989.4e12, 3.35e12)}  # SXM, 80 GB


class Work(TorchDispatchMode):
    """Counter of the operations that are launched while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.launches = self.waits = self.flops = self.bytes = 0
        self.seconds = dict.fromkeys(CHIPS, 0.0)  # each operation at the chip's limit, one after the other

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, operation.overloadpacket.__name__
        self.waits += name in WAITS and any(value.device.type == NAME for value in tensors(args))
        output = operation(*args, **kwargs)
        if launches(operation):
            count = flop_registry.get(getattr(torch.ops.aten, name.removesuffix("_"), None))  # of addmm_ too
            self._add(count(*args, **kwargs, out_val=output) if count else 0, moved(name, (args, kwargs), output))
        return output

    @classmethod
    def together(cls, parts: Iterable["Work"]) -> "Work":
        whole = cls()
        for part in parts:
            for name in ("launches", "waits", "flops", "bytes"):
                setattr(whole, name, getattr(whole, name) + getattr(part, name))
            whole.seconds = {name: seconds + part.seconds[name] for name, seconds in whole.seconds.items()}
        return whole

    def _add(self, flops: int, moved: int) -> None:
        self.launches += 1
        self.flops += flops
        self.bytes += moved
        for name, chip in CHIPS.items():
            self.seconds[name] += max(flops / chip.flops, moved / chip.bytes)


class Values(TorchDispatchMode):
    """The answer to every question that only a value could answer."""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if operation.overloadpacket.__name__ in TRUE and getattr(args[0], "constant", None) is None:
            return True
        return operation(*args, **(kwargs or {}))


def launches(operation: Any) -> bool:
    """At least one kernel: a sum over several axes, or a list of a hundred tensors, may take more."""
    if operation.namespace != "aten" or operation.overloadpacket.__name__ in NO_LAUNCH | WAITS:
        return False
    returned = operation._schema.returns
    aliases = [value.alias_info for value in returned]
    return not aliases or any(alias is None or alias.is_write for alias in aliases)


def moved(name: str, inputs: Any, output: Any) -> int:
    """Bytes read and written, each tensor once, as if nothing were in a cache."""
    read, written = tensors(inputs), tensors(output)
    if name in READS_ROWS | WRITES_ALL:
        read = read[1:]
    if name in READS_ROWS:  # as many bytes of the first as there are in the rows that come or go
        return sum(map(size, read)) + 2 * sum(map(size, read if name.endswith("_") else written))
    return sum(map(size, read)) + sum(map(size, written))


def tensors(values: Any) -> list[Tensor]:
    return [value for value in tree_leaves(values) if isinstance(value, Tensor)]


def size(tensor: Tensor) -> int:
    """Without the axes along which it was expanded."""
    number = 1
    for length, stride in zip(tensor.shape, tensor.stride(), strict=True):
        number *= length if stride else 1
    return number * tensor.element_size()


class AsOnCuda(TorchFunctionMode):
    """Attention with a mask is one kernel of torch's on CUDA, and several products on other devices; and a shape that
    is asked for as a tensor is numbers of the host, which tensors without values cannot hold."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.nn.functional.scaled_dot_product_attention:
            return fused(*args, **(kwargs or {}))
        if function is torch._shape_as_tensor:
            return list(args[0].shape)
        if function is torch.tensor and torch.device((kwargs or {}).get("device") or "cpu").type == NAME:
            return torch.empty(np.shape(args[0]), dtype=torch.tensor(args[0]).dtype, device=NAME)
        return function(*args, **(kwargs or {}))


def fused(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, **more: Any
) -> Tensor:
    if any(part.stride(-1) != 1 for part in (query, key, value)):
        raise ValueError("torch's kernel takes rows alone: of these CUDA would make fifteen operations")
    bias = attn_mask
    if bias is not None and bias.dtype == torch.bool:
        bias = torch.zeros_like(bias, dtype=query.dtype).masked_fill_(bias.logical_not(), -torch.inf)
    if bias is not None:
        bias = bias.expand(*query.shape[:-1], key.size(-2))
    needs_sum = torch.is_grad_enabled()
    output: Tensor = attention(query, key, value, bias, needs_sum, dropout_p, more.get("is_causal", False))[0]
    return output


def put(model: nn.Module, device: torch.device) -> nn.Module:
    """A model of the meta device there; what is tied stays tied."""
    copies: dict[int, Tensor] = {}
    for module in model.modules():
        attributes = {**module._parameters, **module._buffers, **vars(module)}
        for name, value in attributes.items():
            if isinstance(value, Tensor):
                setattr(module, name, copies.setdefault(id(value), like(value, device)))
    return model


def like(value: Tensor, device: torch.device) -> Tensor:
    tensor = torch.empty(value.shape, dtype=value.dtype, device=device)
    return nn.Parameter(tensor, value.requires_grad) if isinstance(value, nn.Parameter) else tensor


@contextmanager
def on_paper() -> Iterator[torch.device]:
    """Tensors that are made in this block have shapes and no values. Those of a device meet no others."""
    if torch._C._get_privateuse1_backend_name() != NAME:
        _setup_privateuseone_for_python_backend(NAME)
    with ExitStack() as stack:
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=False))
        stack.enter_context(Values())
        stack.enter_context(AsOnCuda())
        yield torch.device(NAME)
