"""The one progress bar of downloads and extractions: bytes, speed, time left."""

from tqdm import tqdm


def progress(name: str, total: int | None, done: int = 0, quiet: bool = False) -> tqdm:
    """Silent if asked to be, and unless standard error is a terminal."""
    return tqdm(desc=name, total=total, initial=done, unit="B", unit_scale=True, disable=True if quiet else None)
