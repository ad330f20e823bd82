"""JSON records with a checksum of their content, which is checked whenever they are read.

It guards against edits by mistake and damaged files, not against a forger, who can compute a checksum as well.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from realformer_nmt.common import json_records
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.json_records import SEAL, seal


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record with its checksum, atomically; in ASCII, since a path in it need not be UTF-8."""
    with completed(path) as file:
        file.write(f"{json.dumps({**content, SEAL: seal(content)}, indent=2)}\n".encode())


def read(path: Path, hint: str, required: Mapping[str, type] = MappingProxyType({})) -> dict[str, Any]:
    """Read a record that must have a checksum; `hint` and `required` are those of json_records.read."""
    return json_records.read(path, hint, required, sealed=True)
