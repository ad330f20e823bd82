"""Modules run as programs. `python -m` looks into the current folder first, where any fairseq.py would be run."""

import sys

from realformer_nmt.common import late_imports

PROGRAM = f"""
import sys
if not sys.path[0]:
    del sys.path[0]
import os, runpy
os.environ["PYTHONSAFEPATH"] = "1"
runpy.run_path({late_imports.__file__!r})["import_late"]()
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


def program(module: str, *words: str) -> list[str]:
    """With this very Python and its PYTHONPATH; what it starts looks no more into the current folder than it does."""
    return [sys.executable, "-u", "-c", PROGRAM, module, *words]
