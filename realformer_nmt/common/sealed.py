"""Records that no other hand has written: each holds the hash of the rest of it, which is checked wherever it is read.

It guards against mistakes and damage, not against a forger, who can make a seal as well.
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
    """The whole file or none, in ASCII: a path in it need not be UTF-8."""
    with completed(path) as file:
        file.write(f"{json.dumps({**content, SEAL: seal(content)}, indent=2)}\n".encode())


def read(path: Path, hint: str, wanted: Mapping[str, type] = MappingProxyType({})) -> dict[str, Any]:
    return json_records.read(path, hint, wanted, sealed=True)
