"""The recipes' commands in the tests' environment."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from programs.program import REPOSITORY


def environment(**changes: str) -> Mapping[str, str]:
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "OMP_NUM_THREADS": "1", "no_proxy": "127.0.0.1", "PYTHONPATH": path, **changes}


def run(words: Sequence[str], program_path: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a PATH to its end."""
    return subprocess.run(
        words, env=environment(PATH=program_path), capture_output=True, text=True, timeout=500, check=False
    )
