"""Odd calls of the kernels in C: each computes what plain torch does, or raises TypeError or ValueError.

python -m reliability.native_fuzzing FOLDER [CALLS]

The kernels are built in FOLDER with gcc's sanitisers. The calls run in a fork, which another takes the place of where a
call ends it. Prints how many calls computed something and how many were refused, and every call that failed.
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
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reliability.native_build import build, environment
from reliability.native_calls import FUNCTIONS, Arguments, Function
from reliability.native_chance import Chance
from reliability.native_known import KNOWN
from reliability.native_mutations import mutated
from reliability.trainings import REPOSITORY, FailedError, check

MODULE = "realformer_nmt.kernels.native._kernels"
REFUSALS = (TypeError, ValueError)
BY_TORCH = (RuntimeError, AttributeError, IndexError)  # of what torch is asked about an argument before C is called
UNCHANGED = 0.25  # of the calls
SEED = 1


class Call(NamedTuple):
    name: str
    arguments: Arguments
    changes: list[str]
    is_wrong: bool = False  # to be refused


def call_of(seed: int, index: int) -> Call:
    """Return a call of random arguments; in most, one or two are changed to what nobody would give."""
    if index < len(KNOWN):
        return known_call(list(KNOWN)[index])
    chance = Chance(seed, index)
    name = list(FUNCTIONS)[index % len(FUNCTIONS)]
    arguments, changes = FUNCTIONS[name].arguments(chance), []
    number = 0 if chance.happens(UNCHANGED) else chance.choice([1, 1, 2])
    for argument in chance.some(list(arguments), min(number, len(arguments))):
        change, arguments[argument] = mutated(arguments[argument], chance)
        changes.append(f"{argument} {change}")
    return Call(name, arguments, changes)


def known_call(name: str) -> Call:
    odd, chance = KNOWN[name], Chance(0)
    arguments = FUNCTIONS[odd.function].arguments(chance)
    while not fits(arguments):
        arguments = FUNCTIONS[odd.function].arguments(chance)
    return Call(odd.function, {**arguments, **odd.change(arguments)}, [name], is_wrong=True)


def fits(arguments: Arguments) -> bool:
    """Return whether there are rows, and beams to be confused."""
    tensors = [value for value in arguments.values() if isinstance(value, Tensor)]
    beams = arguments.get("origin") is not None and arguments["query"].size(2) > 1
    return all(tensor.numel() > 1 for tensor in tensors) and (beams or arguments.get("own_key") is None)


def attempt(call: Call) -> str:
    """Return "computed" or "refused", or what is wrong with the answer."""
    function = FUNCTIONS[call.name]
    before = {} if call.is_wrong else {name: copied(value) for name, value in call.arguments.items()}
    try:
        results = function.call(call.arguments)
    except REFUSALS as error:
        return "refused" if call.changes else f"wrong: a call that fits was refused: {error}"
    except BY_TORCH as error:
        return f"wrong: {type(error).__name__}: {error}" if call.is_wrong or not call.changes else "refused"
    if call.is_wrong:
        return "wrong: accepted"
    return compared(results, before, function) or changed(call, before, function) or "computed"


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def compared(results: tuple[Tensor, ...], before: Arguments, function: Function) -> str:
    """Return what is wrong with the numbers, if anything is."""
    try:
        expected = function.expected(before)
    except (*REFUSALS, *BY_TORCH, OverflowError) as error:
        return f"wrong: accepted, and torch says {str(error).splitlines()[0]}"
    for result, reference in zip(results, expected, strict=True):
        if result.shape != reference.shape or result.device.type != "cpu":
            return f"wrong: {tuple(result.shape)} instead of {tuple(reference.shape)} numbers"
        tolerance = 2**-6 if result.dtype is torch.bfloat16 else function.tolerance
        reference = reference.double()
        finite = reference[reference.isfinite()]
        absolute = tolerance * (1 + float(finite.abs().max() if finite.numel() else 0))
        if not torch.allclose(result.double(), reference, rtol=tolerance, atol=absolute, equal_nan=True):
            return f"wrong: off by {(result.double() - reference).abs().max():.3g}"
    return ""


def changed(call: Call, before: Arguments, function: Function) -> str:
    """Return which argument was written to that is only read."""
    for name, value in before.items():
        after = call.arguments[name]
        if isinstance(value, Tensor) and name not in function.written and not torch.equal(value, after):
            return f"wrong: {name} was written to"
    return ""


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
    """The module takes the place of the installed one, in this process alone."""
    specification = importlib.util.spec_from_file_location("_kernels", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no module of this Python")
    sys.modules[MODULE] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(sys.modules[MODULE])


def attack(folder: Path, calls: int, seed: int) -> dict[str, Any]:
    """Build the kernels with sanitisers, and return what `fuzz` finds in a process that has loaded them."""
    module, name = str(build(folder)), "reliability.native_fuzzing"
    command = [sys.executable, "-m", name, "--module", module, str(calls), str(seed)]
    finished = subprocess.run(command, env=environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise FailedError(f"the fuzz of the kernels ended with {finished.returncode}: {finished.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(finished.stdout)
    failed = figures.pop("failed")
    check(not failed, f"{len(failed)} of {calls} calls of kernels: {json.dumps(failed, indent=1)}")
    return {"calls": calls, "seed": seed, **figures}


def main() -> int:
    if sys.argv[1] == "--module":
        load(Path(sys.argv[2]))
        print(json.dumps(fuzz(int(sys.argv[3]), int(sys.argv[4]))))
        return 0
    try:
        print(json.dumps(attack(Path(sys.argv[1]), int((sys.argv[2:] or ["3000"])[0]), SEED)))
    except FailedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
