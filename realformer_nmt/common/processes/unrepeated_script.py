"""Processes of multiprocessing's that do not run the user's script a second time."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

LOCK = threading.RLock()  # another thread may be starting processes too


@contextlib.contextmanager
def unrepeated_script() -> Iterator[None]:
    """Let the processes that start in the block leave the user's script alone.

    multiprocessing imports it in each of them, which runs what no `if __name__ == "__main__"` guards. It passes over
    the __main__.py of a package, which is known by the name in its specification.
    """
    script = sys.modules["__main__"]
    with LOCK:
        before, script.__spec__ = script.__spec__, ModuleSpec("__main__", None)
        try:
            yield
        finally:
            script.__spec__ = before
