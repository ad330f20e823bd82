"""Style of every figure; only this folder imports matplotlib, the rest of the package draws with what it exports.

On import, matplotlib reads the matplotlibrc of the current folder before any other. That file may start TeX, or be a
pipe that never ends. So matplotlib is imported from the folder that holds its own.
"""

import importlib
import importlib.util
import os
from pathlib import Path

HERE = getattr(os, "O_PATH", os.O_RDONLY)  # the current folder need not be readable


def import_matplotlib() -> None:
    spec = importlib.util.find_spec("matplotlib")
    current = os.open(".", HERE)
    try:
        if spec and spec.origin:
            os.chdir(Path(spec.origin).parent / "mpl-data")
        importlib.import_module("matplotlib")
    finally:
        os.fchdir(current)
        os.close(current)


import_matplotlib()
