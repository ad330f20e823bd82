"""Odd calls of the kernels in C, each of which returns or raises TypeError or ValueError, and the kernels' own tests.

The kernels are built with gcc's sanitisers. The calls run in a fork; if one ends it, another fork goes on.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from torch import Tensor

from reliability.native_build import build, environment
from reliability.native_calls import FUNCTIONS, Arguments
from reliability.native_odd import KNOWN, changed
from reliability.trainings import REPOSITORY, check

MODULE = "realformer_nmt.kernels.native._kernels"
TESTS = [f"tests/kernels/native/test_{name}.py" for name in ("attend", "masks", "smoothing")]  # others take minutes
REFUSALS = (TypeError, ValueError)
BY_TORCH = (RuntimeError, AttributeError, IndexError, OverflowError)  # of an argument, before C is called
CALLS, SEED = 3000, 1


class Call(NamedTuple):
    name: str
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
    """Return "computed" or "refused", or what is wrong with the answer."""
    try:
        FUNCTIONS[call.name].call(call.arguments)
    except REFUSALS as error:
        return "refused" if call.changes else f"wrong: a call that fits was refused: {error}"
    except BY_TORCH as error:
        return f"wrong: {type(error).__name__}: {error}" if call.is_wrong or not call.changes else "refused"
    return "wrong: accepted" if call.is_wrong else "computed"


def fuzz(calls: int, seed: int) -> dict[str, Any]:
    """Return the number of calls by their outcomes, and the calls that failed."""
    outcomes: list[str] = []
    while len(outcomes) < calls:
        with tempfile.TemporaryFile("w+") as errors:
            outcomes += _forked(calls, seed, len(outcomes), errors)
            if len(outcomes) < calls:
                errors.seek(0)
                outcomes.append(f"crashed: {_reason(errors.read())}")
    failed = {n: outcome for n, outcome in enumerate(outcomes) if outcome not in ("computed", "refused")}
    shown = {f"{call_of(seed, n).name}: {', '.join(call_of(seed, n).changes)} ({n})": failed[n] for n in failed}
    return {**Counter(outcome.split(":")[0] for outcome in outcomes), "failed": shown}


def _forked(calls: int, seed: int, first: int, errors: Any) -> list[str]:
    """Return the outcomes from a call on, up to the one that ends the fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(errors.fileno(), 2)
        try:
            for number in range(first, calls):
                os.write(writing, f"{attempt(call_of(seed, number))[:300]}\0".encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        outcomes = pipe.read().split("\0")[:-1]
    os.waitpid(child, 0)
    return outcomes


def _reason(text: str) -> str:
    """Return the sanitiser's line, or the last."""
    lines = text.splitlines() or ["no message"]
    return next((line.strip() for line in lines if "ERROR: " in line or "runtime error" in line), lines[-1])[:200]


def load(path: Path) -> None:
    specification = importlib.util.spec_from_file_location("_kernels", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no module of this Python")
    sys.modules[MODULE] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(sys.modules[MODULE])


def attack(folder: Path, calls: int, seed: int = SEED) -> dict[str, Any]:
    """Build the kernels with sanitisers, run their tests and odd calls, and return the numbers of calls."""
    module = build(folder)
    _in_sanitised(module, "tests")
    figures: dict[str, Any] = json.loads(_in_sanitised(module, str(calls), str(seed)))
    failed = figures.pop("failed")
    check(not failed, f"{len(failed)} of {calls} calls of kernels: {json.dumps(failed, indent=1)}")
    return {"calls": calls, "seed": seed, **figures}


def _in_sanitised(module: Path, *words: str) -> str:
    command = [sys.executable, "-m", "reliability.native_fuzzing", str(module), *words]
    finished = subprocess.run(command, env=environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False)
    check(not finished.returncode, f"status {finished.returncode}: {(finished.stdout + finished.stderr)[-3000:]}")
    return finished.stdout


def in_sanitised(module: Path, words: list[str]) -> int:
    """Run the tests or the fuzz in this process, with a module in the place of the installed one."""
    load(module)
    if words == ["tests"]:
        return int(pytest.main(["-q", "-p", "no:cacheprovider", "-o", "addopts=", *TESTS]))
    print(json.dumps(fuzz(int(words[0]), int(words[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(in_sanitised(Path(sys.argv[1]), sys.argv[2:]))
