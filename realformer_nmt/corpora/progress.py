"""The progress bar of downloads, extractions and the stages of prepare: bytes, speed, time left."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tqdm import tqdm

from realformer_nmt.common.terminal import printable
from realformer_nmt.corpora.read_segments import Block


def progress(name: str, total: int | None, quiet: bool = False) -> tqdm:
    """Return a progress bar, which is silent if `quiet` or if standard error is no terminal."""
    return tqdm(desc=printable(name), total=total, unit="B", unit_scale=True, disable=True if quiet else None)


def shown(quiet: bool) -> bool:
    return not quiet and sys.stderr.isatty()


def watched(pairs: Iterable[Block], name: str, source: Path, target: Path, quiet: bool = False) -> Iterator[Block]:
    """Yield the blocks of two files, with a progress bar of the bytes read; of compressed files, compressed bytes."""
    total = source.stat().st_size + target.stat().st_size
    with progress(name, total, quiet=quiet) as bar:
        for block in pairs:
            yield block
            bar.update(block.reach - bar.n)
        bar.update(total - bar.n)
