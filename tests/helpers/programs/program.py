"""The command `realformer-nmt`, of this checkout whether installed or not."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from programs import commands
from programs.commands import REPOSITORY as REPOSITORY


def realformer_nmt(
    *arguments: object, path: Sequence[Path] = (), python: str | Path = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`path` comes first on PYTHONPATH."""
    python_path = os.pathsep.join(map(str, (*path, REPOSITORY)))
    words = [str(python), *commands.OURS[1:], *map(str, arguments)]
    return commands.run(words, environment={"PYTHONPATH": python_path, **environment})
