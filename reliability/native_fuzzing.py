"""Odd calls of the kernels in C, each of which returns or raises TypeError or ValueError, and the kernels' own tests.

Both run in a process that has loaded the kernels as gcc's sanitisers build them, and that ends at the first fault.
"""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from torch import Tensor

from reliability.native_build import build, environment
from reliability.native_calls import FUNCTIONS, Arguments
from reliability.native_odd import KNOWN, changed
from reliability.trainings import REPOSITORY, FailedError, check

MODULE = "realformer_nmt.kernels.native._kernels"
TESTS = [f"tests/kernels/native/test_{name}.py" for name in ("attend", "masks", "smoothing")]  # others take minutes
REFUSALS = (TypeError, ValueError)
BY_TORCH = (RuntimeError, AttributeError, IndexError, OverflowError)  # of an argument, before C is called
CALLS, SEED = 3000, 1


class Call(NamedTuple):
    function: str
    arguments: Arguments
    changes: list[str]
    is_wrong: bool = False  # to be refused


def call_of(seed: int, index: int) -> Call:
    """Return a call of random arguments; in most, one or two are changed to what nobody would give."""
    if index < len(KNOWN):
        return known_call(list(KNOWN)[index])
    chance = Random(f"{seed} {index}")
    name = chance.choice(list(FUNCTIONS))
    arguments, changes = FUNCTIONS[name].arguments(chance), []
    for argument in chance.sample(list(arguments), min(len(arguments), chance.choice((0, 1, 1, 2)))):
        change, arguments[argument] = changed(arguments[argument], chance)
        changes.append(f"{argument} {change}")
    return Call(name, arguments, changes)


def known_call(name: str) -> Call:
    odd, chance = KNOWN[name], Random(0)
    arguments = FUNCTIONS[odd.function].arguments(chance)
    while not has_rows(arguments):
        arguments = FUNCTIONS[odd.function].arguments(chance)
    return Call(odd.function, {**arguments, **odd.change(arguments)}, [name], is_wrong=True)


def has_rows(arguments: Arguments) -> bool:
    """Return whether there are rows, and beams and positions to be confused."""
    tensors = [value for value in arguments.values() if isinstance(value, Tensor)]
    origin = arguments.get("origin")
    beams = origin is None or min(origin.shape[1:]) > 1
    return beams and all(tensor.numel() > 1 for tensor in tensors)


def attempt(call: Call) -> str:
    """Return "computed" or "refused"; raise if a call that fits is refused, or one that is wrong is not."""
    try:
        FUNCTIONS[call.function].call(call.arguments)
    except (*REFUSALS, *BY_TORCH) as error:
        if not call.changes or (call.is_wrong and isinstance(error, BY_TORCH)):
            raise FailedError(f"{type(error).__name__}: {error}") from error
        return "refused"
    check(not call.is_wrong, "it was accepted")
    return "computed"


def fuzz(calls: int, seed: int) -> dict[str, int]:
    """Return the number of calls by their outcomes; each call is named on stderr before it is made."""
    outcomes: Counter[str] = Counter()
    for index in range(calls):
        call = call_of(seed, index)
        print(f"call {index}, {call.function}: {', '.join(call.changes)}", file=sys.stderr, flush=True)
        outcomes[attempt(call)] += 1
    return outcomes


def load(path: Path) -> None:
    specification = importlib.util.spec_from_file_location("_kernels", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no module of this Python")
    sys.modules[MODULE] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(sys.modules[MODULE])


def attack(folder: Path, calls: int, seed: int = SEED) -> dict[str, Any]:
    """Build the kernels with sanitisers, run their tests and odd calls, and return the numbers of calls."""
    module = build(folder)
    start(module, "tests")
    return {"calls": calls, "seed": seed, **json.loads(start(module, str(calls), str(seed)))}


def start(module: Path, *words: str) -> str:
    """Start this file in a process that loads the kernels, and return its output."""
    command = [sys.executable, "-m", "reliability.native_fuzzing", str(module), *words]
    finished = subprocess.run(command, env=environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False)
    last_call = finished.stderr[finished.stderr.rfind("\ncall ") :]
    check(not finished.returncode, f"status {finished.returncode}: {finished.stdout[-2000:]}{last_call[:3000]}")
    return finished.stdout


def main(module: Path, words: list[str]) -> int:
    load(module)
    if words == ["tests"]:
        return int(pytest.main(["-q", "-p", "no:cacheprovider", "-o", "addopts=", *TESTS]))
    print(json.dumps(fuzz(int(words[0]), int(words[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
