"""A reader of pickles that calls, imports and looks up nothing.

It returns nodes: plain values, the names of classes and functions, and descriptions of the calls that the pickle asks
for. rebuilders.py builds the values from them. Its operations are those of pickle's protocol 2, which torch.save uses.

Why not torch.load(weights_only=True), with the classes of numpy and argparse that fairseq's files need, and
zipfile.testzip: in torch 2.13.0 they take 49 of 248 archives of reliability/hostile_pickles.py. A meter of numpy
objects ends `average` with signal 11, a weight of 16 bytes is read as 4 TB, an array has numbers that were never set,
lists stand in themselves or 100,000 deep, options get a __class__. Code of a file was never run, and each of 1,200
flipped bits was refused or without effect.
"""

import pickletools
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any, BinaryIO


class PickleError(ValueError):
    """A file that is no pickle, or is one with operations that torch.save does not write."""


class ForeignNameError(ValueError):
    """A class or function in a pickle that is not allowed; the error's only argument is its name."""


@dataclass(frozen=True)
class QualifiedName:
    """The full name of a class or function."""

    name: str


@dataclass(frozen=True)
class StorageId:
    """A reference to the numbers of a tensor, which torch stores beside the pickle."""

    id: Any


@dataclass(eq=False)
class Call:
    """A call that unpickling would make: the name of the class or function, and its arguments.

    `state` and `items` are what would be set on the result.
    """

    name: str
    arguments: tuple[Any, ...]
    state: Any = None
    items: list[Any] = field(default_factory=list)  # key, value, key, value, ...


def read(stream: BinaryIO, allowed: Container[str]) -> tuple[Any, list[Any]]:
    """Return the root node of a pickle, and the ids of the storages that it refers to.

    `allowed` are the names of classes and functions that may occur.
    """
    machine = PickleMachine(allowed)
    try:
        for operation, argument, _ in pickletools.genops(stream):
            machine.step(operation.name, argument)
    except LookupError as error:  # of the stack or the memory
        raise PickleError("it uses a value before it has made one") from error
    if len(machine.stack) != 1 or machine.outer:
        raise PickleError("it does not end with exactly one value")
    return machine.stack[0], machine.storages


class PickleMachine:
    """The stack machine of pickle, with nodes in place of objects."""

    def __init__(self, allowed: Container[str]) -> None:
        self.allowed = allowed
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # the stacks below each mark
        self.memory: dict[int, Any] = {}
        self.storages: list[Any] = []

    def step(self, operation: str, argument: Any) -> None:
        if operation in VALUES:
            self.stack.append(argument)
        elif operation in NEW_VALUES:
            self.stack.append(NEW_VALUES[operation]())
        elif operation in STEPS:
            STEPS[operation](self, argument)
        elif operation not in IGNORED:
            raise PickleError(f"its operation {operation} is not one that torch.save writes")

    def pop_to_mark(self) -> list[Any]:
        nodes, self.stack = self.stack, self.outer.pop()
        return nodes

    def pop(self, number: int) -> list[Any]:
        if len(self.stack) < number:
            raise PickleError("it uses more values than it has made")
        nodes = self.stack[-number:]
        del self.stack[-number:]
        return nodes

    def mark(self, _: Any) -> None:
        self.outer.append(self.stack)
        self.stack = []

    def name(self, argument: str) -> None:
        name = argument.replace(" ", ".")  # pickletools gives "module name"
        if name not in self.allowed:
            raise ForeignNameError(name)
        self.stack.append(QualifiedName(name))

    def call(self, _: Any) -> None:
        function, arguments = self.pop(2)
        if not isinstance(function, QualifiedName) or type(arguments) is not tuple:
            raise PickleError("it calls something that is not a class or function")
        self.stack.append(Call(function.name, arguments))

    def set_state(self, _: Any) -> None:
        call, state = self.pop(2)
        if not isinstance(call, Call) or call.state is not None:
            raise PickleError("it sets the state of a value that has none, or sets it twice")
        call.state = state
        self.stack.append(call)

    def set_items(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if len(pairs) % 2:
            raise PickleError("a key has no value")
        if isinstance(target, Call):
            target.items += pairs
        elif type(target) is dict:
            for key in pairs[::2]:
                if type(key) not in (str, int):
                    raise PickleError(f"a key is neither text nor a whole number but a {type(key).__name__}")
            target.update(zip(pairs[::2], pairs[1::2], strict=True))
        else:
            raise PickleError("it sets a key of a value that is not a table")

    def push_tuple(self, items: list[Any]) -> None:
        self.stack.append(tuple(items))

    def remember(self, index: int) -> None:
        self.memory[index] = self.stack[-1]

    def recall(self, index: int) -> None:
        self.stack.append(self.memory[index])

    def refer_to_storage(self, _: Any) -> None:
        self.storages += self.pop(1)
        self.stack.append(StorageId(self.storages[-1]))

    def extend(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise PickleError("it appends to a value that is not a list")
        self.stack[-1].extend(items)


VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING")
IGNORED = ("PROTO", "STOP")
NEW_VALUES: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}
STEPS: dict[str, Callable[[PickleMachine, Any], None]] = {
    "MARK": PickleMachine.mark,
    "GLOBAL": PickleMachine.name,
    "REDUCE": PickleMachine.call,
    "NEWOBJ": PickleMachine.call,
    "BUILD": PickleMachine.set_state,
    "TUPLE": lambda machine, _: machine.push_tuple(machine.pop_to_mark()),
    "TUPLE1": lambda machine, _: machine.push_tuple(machine.pop(1)),
    "TUPLE2": lambda machine, _: machine.push_tuple(machine.pop(2)),
    "TUPLE3": lambda machine, _: machine.push_tuple(machine.pop(3)),
    "APPEND": lambda machine, _: machine.extend(machine.pop(1)),
    "APPENDS": lambda machine, _: machine.extend(machine.pop_to_mark()),
    "SETITEM": lambda machine, _: machine.set_items(machine.pop(2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.pop_to_mark()),
    "BINPUT": PickleMachine.remember,
    "LONG_BINPUT": PickleMachine.remember,
    "BINGET": PickleMachine.recall,
    "LONG_BINGET": PickleMachine.recall,
    "BINPERSID": PickleMachine.refer_to_storage,
}
