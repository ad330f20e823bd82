"""What this machine's processor can do."""

import functools
from pathlib import Path


@functools.cache
def instructions() -> frozenset[str]:
    """Their names in Linux, its maker's among them; none where it is another system."""
    processors = Path("/proc/cpuinfo")
    return frozenset(processors.read_text("utf-8").split() if processors.exists() else ())
