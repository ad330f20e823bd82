"""JSON files: records that one command writes and another reads, each written whole; every error names the file."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed

SEAL = "seal"  # the key that holds a checksum of the rest
# What code raises that looks into a record of unexpected form
UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def write_json(path: Path, content: object, ascii_only: bool = False) -> None:
    """Write JSON atomically; in ASCII where a path in it need not be UTF-8."""
    with completed(path) as file:
        file.write(f"{json.dumps(content, indent=2, ensure_ascii=ascii_only)}\n".encode())


def write_sealed(path: Path, content: Mapping[str, object]) -> None:
    """Write a record with its checksum, atomically.

    It guards against edits by mistake and damaged files, not against a forger, who can compute a checksum as well."""
    write_json(path, {**content, SEAL: seal(content)}, ascii_only=True)


def read(path: Path, hint: str, sealed: bool = False) -> dict[str, object]:
    """Read a record, without its checksum.

    `hint` ends each error: it says which command writes the record, or what to do. A checksum must be right where there
    is one, and must be there if `sealed` is true.
    """
    try:
        record = json.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; {hint}") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; {hint}") from error
    except (ValueError, RecursionError) as error:  # no JSON, or no UTF-8
        raise UserError(f"{path} is damaged: {error}; {hint}") from error
    if not isinstance(record, dict):
        raise UserError(f"{path} is damaged: it holds no JSON object; {hint}")
    if sealed and SEAL not in record:
        raise UserError(f"{path} has no {SEAL}: it is no record of this package, or was edited; {hint}")
    with expected(path, hint):
        if SEAL in record and record.pop(SEAL) != seal(record):
            raise UserError(f"{path} was changed since it was written: put it back as it was; {hint}")
    return record


@contextlib.contextmanager
def expected(path: Path, hint: str) -> Iterator[None]:
    """Turn the errors of a block that looks into a record into a UserError that names the file."""
    try:
        yield
    except UserError:
        raise
    except UNLIKE as error:
        reason = f"missing key {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{path} has an unexpected format: {reason}; {hint}") from error


def seal(content: object) -> str:
    """Return the checksum of a record: SHA-256 of its JSON with sorted keys."""
    return hashlib.sha256(json.dumps(as_read(content), sort_keys=True).encode()).hexdigest()


def as_read(content: object) -> Any:
    """Return what a reader of its JSON gets: tuples are lists, keys are text."""
    return json.loads(json.dumps(content))
