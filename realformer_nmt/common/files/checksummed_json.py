"""JSON records with a checksum of their content, which is checked whenever they are read.

It guards against edits by mistake and damaged files, not against a forger, who can compute a checksum as well.
"""

from collections.abc import Mapping
from pathlib import Path

from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.json_records import SEAL, seal, write_json


def write(path: Path, content: Mapping[str, object]) -> None:
    """Write a record with its checksum, atomically."""
    write_json(path, {**content, SEAL: seal(content)}, ascii_only=True)


def read(path: Path, hint: str) -> dict[str, object]:
    """Read a record that must have a checksum; `hint` is that of json_records.read."""
    return json_records.read(path, hint, sealed=True)
