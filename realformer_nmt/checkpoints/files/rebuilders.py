"""Rebuild the values of a checkpoint from the calls that its pickle describes: tensors, arrays, options, settings.

torch.load would run these calls. Here each class or function that is allowed has a builder of its own, which checks
the recorded arguments; constructors of numpy, omegaconf and torch never see what a file says unchecked.
"""

import argparse
import math
import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from realformer_nmt.checkpoints.files.pickle_reader import Call, ForeignNameError, PickleError, QualifiedName, StorageId

PLAIN = (type(None), bool, int, float, str, bytes)
DEEPEST = 100  # levels of values inside values
Storages = Callable[[Any], Tensor]  # from a storage's id, as torch writes it, to its numbers, one-dimensional


class Values:
    """Builder of values from the nodes of a pickle; each node is built once, so that tensors stay tied."""

    def __init__(self, storages: Storages) -> None:
        self.storages = storages
        self.built: dict[int, Any] = {}
        self.nodes: list[Any] = []  # references, so that no address in `built` is used again

    def of(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a node."""
        if type(node) in PLAIN:
            return node
        if id(node) not in self.built:
            if depth > DEEPEST:
                raise PickleError(f"its values are nested more than {DEEPEST} deep")
            self.nodes.append(node)
            self.built[id(node)] = self._build(node, depth + 1)
        return self.built[id(node)]

    def _build(self, node: Any, depth: int) -> Any:
        if type(node) is dict:
            return {key: self.of(value, depth) for key, value in node.items()}
        if type(node) in (list, tuple):
            return type(node)(self.of(value, depth) for value in node)
        if isinstance(node, Call) and node.name in BUILDERS:
            return BUILDERS[node.name](self, node, depth)
        if isinstance(node, Call | QualifiedName):
            raise ForeignNameError(node.name)
        raise PickleError("it holds numbers of no tensor")


Builder = Callable[[Values, Call, int], Any]


def check(right: bool, what: str) -> None:
    """Refuse the checkpoint with the message `what` unless the condition is true."""
    if not right:
        raise PickleError(what)


def ordered(values: Values, call: Call, depth: int) -> OrderedDict[Any, Any]:
    """Build an OrderedDict; the `_metadata` of a model's state_dict are the versions of its modules."""
    pairs = values.of(call.arguments[0], depth) if call.arguments else []
    keys, nodes = call.items[::2], call.items[1::2]
    items = dict(zip(keys, (values.of(node, depth) for node in nodes), strict=True))
    table = OrderedDict({**dict(pairs), **items})
    check(all(type(key) in (str, int) for key in table), "a key is neither text nor a whole number")
    if isinstance(call.state, dict) and "_metadata" in call.state:
        vars(table)["_metadata"] = values.of(call.state["_metadata"], depth)
    return table


def tensor(values: Values, call: Call, _: int) -> Tensor:
    """Build a tensor from torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks).

    A seventh argument, metadata, is refused.
    """
    storage, offset, size, stride, *rest = call.arguments
    check(isinstance(storage, StorageId) and len(rest) == 2, "a tensor is of another kind")
    for numbers in ((offset,), size, stride):
        check(
            type(numbers) is tuple and all(type(n) is int and 0 <= n < 1 << 63 for n in numbers),
            "a tensor has no such shape",
        )
    flat = values.storages(storage.id)
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    inside = math.prod(size) == 0 or (last < flat.numel() and math.prod(size) <= flat.numel())
    check(inside and len(size) <= 16, "a tensor is larger than its numbers")
    return flat.as_strided(size, stride, offset) if math.prod(size) else flat.new_empty(size)


def parameter(values: Values, call: Call, depth: int) -> Any:
    """Build the tensor of a torch.nn.Parameter."""
    check(isinstance(call.arguments[0], Call), "a parameter is no tensor")
    return values.of(call.arguments[0], depth)


def encoded(_: Values, call: Call, __: int) -> bytes:
    """Build bytes from _codecs.encode(text, "latin1"), as protocol 2 writes them."""
    check([type(argument) for argument in call.arguments] == [str, str], "bytes are of another kind")
    text, coding = call.arguments
    check(coding == "latin1", "bytes are of another coding")
    return bytes(text.encode("latin1"))


def array(values: Values, call: Call, depth: int) -> np.ndarray:
    """Build an array of int64 or float64, as fairseq's meters hold the counts of BLEU."""
    check(
        call.arguments[0] == QualifiedName("numpy.ndarray") and isinstance(call.state, tuple),
        "an array is of another kind",
    )
    _, shape, dtype_call, columns_first, content = call.state
    dtype = dtype_of(dtype_call)
    raw = values.of(content, depth)
    right = type(shape) is tuple and len(shape) <= 4 and all(type(length) is int and length >= 0 for length in shape)
    check(right and type(raw) is bytes and len(raw) == 8 * math.prod(shape), "an array is not as long as its shape")
    check(columns_first is False or len(shape) < 2, "an array is stored column by column")
    numbers: np.ndarray = np.frombuffer(raw, dtype).reshape(shape).copy()
    return numbers


def dtype_of(call: Any) -> str:
    """Return "<i8" for numpy.dtype("i8", False, True) with the state (3, "<", None, None, None, -1, -1, 0)."""
    check(isinstance(call, Call) and call.name == "numpy.dtype", "an array is of another kind")
    code, state = call.arguments[:1], call.state
    check(code in (("i8",), ("f8",)), "an array holds neither int64 nor float64")
    check(isinstance(state, tuple) and state[1:5] == ("<", None, None, None), "an array is of another byte order")
    return f"<{code[0]}"


def scalar(values: Values, call: Call, depth: int) -> float:
    """Build a float from numpy's scalar(dtype, bytes); fairseq saves the best figure of `--report-mcc` so."""
    dtype_call, content = call.arguments
    check(dtype_of(dtype_call) == "<f8", "a number of numpy is not a float64")
    raw = values.of(content, depth)
    check(type(raw) is bytes and len(raw) == 8, "a number of numpy is not of 8 bytes")
    (number,) = struct.unpack("<d", raw)
    return float(number)


def namespace(values: Values, call: Call, depth: int) -> argparse.Namespace:
    """Build a Namespace, which holds the options of older checkpoints."""
    check(call.arguments == () and isinstance(call.state, dict), "options are of another kind")
    right = all(type(name) is str and name.isidentifier() and not name.startswith("__") for name in call.state)
    check(right, "an option has an invalid name")
    return argparse.Namespace(**{name: values.of(value, depth) for name, value in call.state.items()})


def setting(values: Values, call: Call, depth: int) -> Any:
    """Build a plain dict, list or value from omegaconf's; interpolations such as ${model} stay text."""
    content = "_val" if call.name.endswith("AnyNode") else "_content"
    check(isinstance(call.state, dict) and content in call.state, "settings are of another kind")
    return values.of(call.state[content], depth)


BUILDERS: Mapping[str, Builder] = {
    "collections.OrderedDict": ordered,
    "torch._utils._rebuild_tensor_v2": tensor,
    "torch._utils._rebuild_parameter": parameter,
    "_codecs.encode": encoded,
    "numpy.core.multiarray._reconstruct": array,  # as numpy 1 writes it
    "numpy._core.multiarray._reconstruct": array,
    "numpy.core.multiarray.scalar": scalar,  # as numpy 1 writes it
    "numpy._core.multiarray.scalar": scalar,
    "argparse.Namespace": namespace,
    "omegaconf.dictconfig.DictConfig": setting,
    "omegaconf.listconfig.ListConfig": setting,
    "omegaconf.nodes.AnyNode": setting,
}
DTYPES: Mapping[str, torch.dtype] = {
    "torch.DoubleStorage": torch.float64,
    "torch.FloatStorage": torch.float32,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64,
    "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16,
    "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8,
    "torch.BoolStorage": torch.bool,
}
# Names that may occur beside a value, in omegaconf's metadata and in arrays; none is a value
IGNORED = (
    "numpy.ndarray",
    "numpy.dtype",
    "omegaconf.base.ContainerMetadata",
    "omegaconf.base.Metadata",
    "typing.Any",
    "__builtin__.dict",
    "__builtin__.list",
    "__builtin__.long",
    "collections.defaultdict",
)
ALLOWED = frozenset((*BUILDERS, *DTYPES, *IGNORED))
