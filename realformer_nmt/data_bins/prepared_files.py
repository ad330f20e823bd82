"""The part of prepare.json that lists the prepared files."""

import re

from msgspec import Struct

FILE = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+)?", re.ASCII)  # relative to the folder of the record
HASH = re.compile("[0-9a-f]{64}")


class PreparedFiles(Struct, frozen=True, kw_only=True):
    """Sizes and hashes of prepared files, by their paths from the folder of the record."""

    bytes: dict[str, int]
    sha256: dict[str, str]

    def __post_init__(self) -> None:
        for name in {**self.sha256, **self.bytes}:
            size, sha = self.bytes.get(name), self.sha256.get(name)
            if not FILE.fullmatch(name) or size is None or not HASH.fullmatch(str(sha)):
                raise ValueError(f"of {name!r} it says {size} bytes, sha256 {sha}")
