"""Commands that run a module as a program, without importing from the current folder.

`python -m` looks there first, so that a file called fairseq.py would be run.
"""

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


def program(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this Python.

    PYTHONSAFEPATH keeps the Python processes that it starts from importing from the current folder, too.
    """
    return [sys.executable, "-u", "-c", PROGRAM, module, *arguments]
