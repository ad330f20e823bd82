"""What a pickle says, and nothing of what it asks for: a machine that calls, imports and looks up nothing.

Classes and functions stay names, what they would make stays a note of their arguments. Whoever reads the notes gives
each name a meaning of its own (stand_ins.py). The operations are those that pickle's protocol 2 writes, as torch.save
asks for.
"""

import pickletools
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any, BinaryIO


class PickleError(ValueError):
    """No pickle, or one of other operations."""


class ForeignNameError(ValueError):
    """A pickle names a class or function that is not among those allowed: its only argument."""


@dataclass(frozen=True)
class Name:
    """Of a class or function."""

    name: str


@dataclass(frozen=True)
class Elsewhere:
    """What torch keeps beside the pickle: numbers of a tensor."""

    place: Any


@dataclass(eq=False)
class Made:
    """What a class or function would have been called with, and the state that its object would have got."""

    name: str
    arguments: tuple[Any, ...]
    state: Any = None
    items: list[Any] = field(default_factory=list)  # keys and values in turn


def read(stream: BinaryIO, allowed: Container[str]) -> Any:
    return read_with_places(stream, allowed)[0]


def read_with_places(stream: BinaryIO, allowed: Container[str]) -> tuple[Any, list[Any]]:
    """Also where the numbers stand that it asks for."""
    machine = Machine(allowed)
    try:
        for operation, argument, _ in pickletools.genops(stream):
            machine.step(operation.name, argument)
    except LookupError as error:  # of the stack or the memory
        raise PickleError("it takes what it did not make") from error
    if len(machine.stack) != 1 or machine.marked:
        raise PickleError("it leaves more than one value")
    return machine.stack[0], machine.places


class Machine:
    def __init__(self, allowed: Container[str]) -> None:
        self.allowed = allowed
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memory: dict[int, Any] = {}
        self.places: list[Any] = []

    def step(self, operation: str, argument: Any) -> None:
        if operation in VALUES:
            self.stack.append(argument)
        elif operation in MAKERS:
            self.stack.append(MAKERS[operation]())
        elif operation in STEPS:
            STEPS[operation](self, argument)
        elif operation not in NOTHING:
            raise PickleError(f"its operation {operation} is none that torch.save writes")

    def since_mark(self) -> list[Any]:
        since, self.stack = self.stack, self.marked.pop()
        return since

    def last(self, number: int) -> list[Any]:
        if len(self.stack) < number:
            raise PickleError("it takes more values than it made")
        taken = self.stack[-number:]
        del self.stack[-number:]
        return taken

    def mark(self, _: Any) -> None:
        self.marked.append(self.stack)
        self.stack = []

    def name(self, written: str) -> None:
        name = written.replace(" ", ".")
        if name not in self.allowed:
            raise ForeignNameError(name)
        self.stack.append(Name(name))

    def make(self, _: Any) -> None:
        what, arguments = self.last(2)
        if not isinstance(what, Name) or type(arguments) is not tuple:
            raise PickleError("it calls what is no name")
        self.stack.append(Made(what.name, arguments))

    def build(self, _: Any) -> None:
        made, state = self.last(2)
        if not isinstance(made, Made) or made.state is not None:
            raise PickleError("it changes what has no state, or has one already")
        made.state = state
        self.stack.append(made)

    def put(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if len(pairs) % 2:
            raise PickleError("a key has no value")
        if isinstance(target, Made):
            target.items += pairs
        elif type(target) is dict:
            target.update(zip(map(key, pairs[::2]), pairs[1::2], strict=True))
        else:
            raise PickleError("it puts a key into what has none")

    def group(self, items: list[Any]) -> None:
        self.stack.append(tuple(items))

    def remember(self, place: int) -> None:
        self.memory[place] = self.stack[-1]

    def recall(self, place: int) -> None:
        self.stack.append(self.memory[place])

    def leave(self, _: Any) -> None:
        self.places += self.last(1)
        self.stack.append(Elsewhere(self.places[-1]))

    def extend(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise PickleError("it appends to what is no list")
        self.stack[-1].extend(items)


def key(value: Any) -> str | int:
    if type(value) not in (str, int):
        raise PickleError(f"a key is neither text nor a whole number but a {type(value).__name__}")
    found: str | int = value
    return found


VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING")
NOTHING = ("PROTO", "STOP")
MAKERS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}
STEPS: dict[str, Callable[[Machine, Any], None]] = {
    "MARK": Machine.mark,
    "GLOBAL": Machine.name,
    "REDUCE": Machine.make,
    "NEWOBJ": Machine.make,
    "BUILD": Machine.build,
    "TUPLE": lambda machine, _: machine.group(machine.since_mark()),
    "TUPLE1": lambda machine, _: machine.group(machine.last(1)),
    "TUPLE2": lambda machine, _: machine.group(machine.last(2)),
    "TUPLE3": lambda machine, _: machine.group(machine.last(3)),
    "APPEND": lambda machine, _: machine.extend(machine.last(1)),
    "APPENDS": lambda machine, _: machine.extend(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.put(machine.last(2)),
    "SETITEMS": lambda machine, _: machine.put(machine.since_mark()),
    "BINPUT": Machine.remember,
    "LONG_BINPUT": Machine.remember,
    "BINGET": Machine.recall,
    "LONG_BINGET": Machine.recall,
    "BINPERSID": Machine.leave,
}
