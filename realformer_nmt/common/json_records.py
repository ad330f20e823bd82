"""Reading the JSON records that our commands leave for each other: what is none is an error that names the file."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from realformer_nmt.common.errors import UserError

SEAL = "seal"
# Met in another's record
UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def read(
    path: Path, hint: str, wanted: Mapping[str, type] = MappingProxyType({}), sealed: bool = False
) -> dict[str, Any]:
    """`hint` says who writes it, or what to do if it is damaged; `wanted` what it must hold. A seal that is there must
    be right, `sealed` or not."""
    if path.is_fifo() or path.is_char_device():
        raise UserError(f"{path} is a pipe or a device, and no record; {hint}")
    try:
        found = json.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; {hint}") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; {hint}") from error
    except (ValueError, RecursionError) as error:  # no JSON, or no UTF-8
        raise UserError(f"{path} is damaged: {error}; {hint}") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged: it holds no JSON object; {hint}")
    if sealed and SEAL not in found:
        raise UserError(f"{path} is of version 0.1.0, or not of this package: it does not say what it holds; {hint}")
    with expected(path, hint):
        if SEAL in found and found.pop(SEAL) != seal(found):
            raise UserError(f"{path} was changed since it was written: put it back as it was; {hint}")
    demand(found, path, hint, wanted)
    return found


def demand(found: Mapping[str, Any], path: Path, hint: str, wanted: Mapping[str, type]) -> None:
    for key, kind in wanted.items():
        if not isinstance(found.get(key), kind):
            told = f"{key} is no {kind.__name__}" if key in found else f"it has no {key}"
            raise UserError(f"{path} is another kind of file, or of another version: {told}; {hint}")


@contextlib.contextmanager
def expected(path: Path, hint: str) -> Iterator[None]:
    """Around what looks into a record."""
    try:
        yield
    except UserError:
        raise
    except UNLIKE as error:
        told = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{path} is another kind of file, or of another version: {told}; {hint}") from error


def seal(content: Mapping[str, Any]) -> str:
    """Of what JSON gives back, in the order of the keys' names."""
    plain = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
