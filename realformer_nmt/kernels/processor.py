"""The instruction sets of this machine's processor."""

import functools
from pathlib import Path


@functools.cache
def instructions() -> frozenset[str]:
    """Return the words of /proc/cpuinfo, which name instructions and maker; none if the system is not Linux."""
    processors = Path("/proc/cpuinfo")
    return frozenset(processors.read_text("utf-8").split() if processors.exists() else ())
