"""One archive of random bytes, asked for again and again by the tests of downloads."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from texts.archive_server import ArchiveServer

from realformer_nmt.corpora.archives import download
from realformer_nmt.corpora.manifest_schema import Packing

CONTENT = np.random.default_rng(3).bytes(2_500_000)
SIZE = len(CONTENT)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Waits:
    """Waits that are noted instead of slept."""

    patch: pytest.MonkeyPatch
    seconds: list[float] = field(default_factory=list)

    def plan(self, *delays: float, stall: float = 20) -> None:
        for name, value in {"DELAYS": delays, "STALL": stall, "sleep": self.seconds.append}.items():
            self.patch.setattr(download, name, value)


def packing(server: ArchiveServer, *paths: str, size: int | None = SIZE, sha256: str = SHA256) -> Packing:
    return Packing(tuple(server.url + path for path in paths or ("/a.tgz",)), bytes=size, sha256=sha256)


def downloaded(folder: Path) -> bool:
    """The file is right, and nothing else is there."""
    return [file.name for file in folder.iterdir()] == ["a.tgz"] and (folder / "a.tgz").read_bytes() == CONTENT
