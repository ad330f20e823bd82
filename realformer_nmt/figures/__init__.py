"""How every figure of the package looks. This room alone imports matplotlib; others take from it what they draw with.

matplotlib reads the matplotlibrc of the current folder when it is imported, before any other: text that starts TeX, or
a pipe that is waited for without end. So it is imported from the folder in which its own lies.
"""

import importlib
import importlib.util
import os
from pathlib import Path

HERE = getattr(os, "O_PATH", os.O_RDONLY)  # a folder that may be entered need not be readable


def import_matplotlib() -> None:
    found = importlib.util.find_spec("matplotlib")
    before = os.open(".", HERE)
    try:
        if found and found.origin:
            os.chdir(Path(found.origin).parent / "mpl-data")
        importlib.import_module("matplotlib")
    finally:
        os.fchdir(before)
        os.close(before)


import_matplotlib()
