"""What the names in a checkpoint mean here: tensors, arrays of numbers, options and plain values.

Each is built by a function of ours from arguments that it has checked; no file gets at a constructor of numpy's,
omegaconf's or torch's.
"""

import argparse
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from fairseq.distributed.utils import _TensorPlaceholder
from torch import Tensor

from realformer_nmt.checkpoints.pickles import Elsewhere, ForeignNameError, Made, Name, PickleError

PLAIN = (type(None), bool, int, float, str, bytes)
DEEPEST = 100  # how far values stand in values
Storages = Callable[[Any], Tensor]  # what torch keeps of a place -> its numbers in a row


class Values:
    """The value of each note of a pickle, each made once."""

    def __init__(self, storages: Storages) -> None:
        self.storages = storages
        self.known: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no other note gets the address of one

    def of(self, note: Any, depth: int = 0) -> Any:
        if type(note) in PLAIN:
            return note
        if id(note) not in self.known:
            if depth > DEEPEST:
                raise PickleError(f"its values stand in each other more than {DEEPEST} deep")
            self.kept.append(note)
            self.known[id(note)] = self._make(note, depth + 1)
        return self.known[id(note)]

    def _make(self, note: Any, depth: int) -> Any:
        if type(note) is dict:
            return {key: self.of(value, depth) for key, value in note.items()}
        if type(note) in (list, tuple):
            return type(note)(self.of(value, depth) for value in note)
        if isinstance(note, Made):
            return meaning(note.name)(self, note, depth)
        if isinstance(note, Name) and note.name in KINDS:
            return KINDS[note.name]
        raise ForeignNameError(note.name) if isinstance(note, Name) else PickleError("it holds numbers of no tensor")


def meaning(name: str) -> Callable[[Values, Made, int], Any]:
    found = MEANINGS.get(name)
    if found is None:
        raise ForeignNameError(name)
    return found


def demand(right: bool, what: str) -> None:
    if not right:
        raise PickleError(what)


def ordered(values: Values, made: Made, depth: int) -> OrderedDict[Any, Any]:
    pairs = values.of(made.arguments[0], depth) if made.arguments else []
    items = dict(zip(made.items[::2], (values.of(value, depth) for value in made.items[1::2]), strict=True))
    found = OrderedDict({**dict(pairs), **items})
    demand(all(type(key) in (str, int) for key in found), "a key is neither text nor a whole number")
    if isinstance(made.state, dict) and "_metadata" in made.state:  # versions of a model's modules
        vars(found)["_metadata"] = values.of(made.state["_metadata"], depth)
    return found


def tensor(values: Values, made: Made, _: int) -> Tensor:
    """Of torch._utils._rebuild_tensor_v2: storage, offset, size, stride, requires_grad, hooks, metadata."""
    storage, offset, size, stride, *rest = made.arguments
    demand(isinstance(storage, Elsewhere) and len(rest) in (2, 3) and not rest[2:][:1], "a tensor is of another kind")
    for numbers in ((offset,), size, stride):
        demand(type(numbers) is tuple and all(type(n) is int and n >= 0 for n in numbers), "a tensor has no such shape")
    flat = values.storages(storage.place)
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    inside = math.prod(size) == 0 or (last < flat.numel() and math.prod(size) <= flat.numel())
    demand(inside and len(size) <= 16, "a tensor is larger than its numbers")
    return flat.as_strided(size, stride, offset) if math.prod(size) else flat.new_empty(size)


def parameter(values: Values, made: Made, depth: int) -> Any:
    demand(isinstance(made.arguments[0], Made), "a parameter is no tensor")
    return values.of(made.arguments[0], depth)


def encoded(_: Values, made: Made, __: int) -> bytes:
    """How protocol 2 writes bytes."""
    demand([type(argument) for argument in made.arguments] == [str, str], "bytes are of another kind")
    text, coding = made.arguments
    demand(coding == "latin1", "bytes are of another coding")
    return bytes(text.encode("latin1"))


def array(values: Values, made: Made, depth: int) -> np.ndarray:
    """Whole numbers or floats of 64 bits, as fairseq's meters hold BLEU's counts."""
    demand(made.arguments[0] == Name("numpy.ndarray") and isinstance(made.state, tuple), "an array is of another kind")
    _, shape, kind, columns_first, content = made.state
    dtype = number(kind)
    raw = values.of(content, depth)
    right = type(shape) is tuple and len(shape) <= 4 and all(type(length) is int and length >= 0 for length in shape)
    demand(right and type(raw) is bytes and len(raw) == 8 * math.prod(shape), "an array is not as long as its shape")
    demand(columns_first is False or len(shape) < 2, "an array has its columns first")
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def number(kind: Any) -> str:
    """numpy.dtype("i8", False, True) with the state (3, "<", None, None, None, -1, -1, 0)."""
    demand(isinstance(kind, Made) and kind.name == "numpy.dtype", "an array is of another kind")
    named, state = kind.arguments[:1], kind.state
    demand(named in (("i8",), ("f8",)), "an array holds neither int64 nor float64")
    demand(isinstance(state, tuple) and state[1:5] == ("<", None, None, None), "an array is of another byte order")
    return f"<{named[0]}"


def namespace(values: Values, made: Made, depth: int) -> argparse.Namespace:
    demand(made.arguments == () and isinstance(made.state, dict), "options are of another kind")
    right = all(type(name) is str and name.isidentifier() and not name.startswith("__") for name in made.state)
    demand(right, "an option's name is none")
    return argparse.Namespace(**{name: values.of(value, depth) for name, value in made.state.items()})


def contents(values: Values, made: Made, depth: int) -> Any:
    """Of omegaconf's dictionaries and lists; what stands in them is plain, an interpolation is text."""
    demand(isinstance(made.state, dict) and "_content" in made.state, "settings are of another kind")
    return values.of(made.state["_content"], depth)


def content(values: Values, made: Made, depth: int) -> Any:
    demand(isinstance(made.state, dict) and "_val" in made.state, "a setting is of another kind")
    return values.of(made.state["_val"], depth)


def placeholder(_: Values, made: Made, __: int) -> Any:
    """Of a tensor that another rank sends after the message."""
    demand(isinstance(made.state, dict) and type(made.state.get("index")) is int, "a tensor's place is no number")
    return _TensorPlaceholder(index=made.state["index"])


def size(_: Values, made: Made, __: int) -> torch.Size:
    """Ranks tell each other the shapes of the tensors that they send."""
    (lengths,) = made.arguments
    demand(type(lengths) is tuple and all(type(length) is int and length >= 0 for length in lengths), "a size is none")
    return torch.Size(lengths)


def device(_: Values, made: Made, __: int) -> torch.device:
    name, *number = made.arguments
    demand(name in ("cpu", "cuda") and all(type(place) is int for place in number), "a device is none that is known")
    return torch.device(name, *number)


MEANINGS: Mapping[str, Callable[[Values, Made, int], Any]] = {
    "collections.OrderedDict": ordered,
    "torch._utils._rebuild_tensor_v2": tensor,
    "torch._utils._rebuild_parameter": parameter,
    "_codecs.encode": encoded,
    "numpy.core.multiarray._reconstruct": array,  # as numpy 1 writes it
    "numpy._core.multiarray._reconstruct": array,
    "argparse.Namespace": namespace,
    "omegaconf.dictconfig.DictConfig": contents,
    "omegaconf.listconfig.ListConfig": contents,
    "omegaconf.nodes.AnyNode": content,
    "fairseq.distributed.utils._TensorPlaceholder": placeholder,
    "torch.Size": size,
    "torch.device": device,
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
KINDS: Mapping[str, torch.dtype] = {str(kind): kind for kind in DTYPES.values()}
# What omegaconf writes beside a value, and what arrays name; as a value each is refused
PASSED_OVER = (
    *("numpy.ndarray", "numpy.dtype", "omegaconf.base.ContainerMetadata", "omegaconf.base.Metadata", "typing.Any"),
    *("__builtin__.dict", "__builtin__.list", "__builtin__.long", "collections.defaultdict"),
)
ALLOWED = frozenset((*MEANINGS, *DTYPES, *KINDS, *PASSED_OVER))
