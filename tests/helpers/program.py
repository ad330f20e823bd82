"""The command `realformer-nmt` as a subprocess, of this checkout whether installed or not."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def realformer_nmt(
    *arguments: object, path: Sequence[Path] = (), python: str | Path = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`path` comes first on PYTHONPATH."""
    return subprocess.run(
        [str(python), "-m", "realformer_nmt.cli", *map(str, arguments)],
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(map(str, (*path, REPOSITORY))),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
