"""Types of the fixtures in conftest.py: tests cannot import from there, as every folder has a conftest of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]
Once = Callable[[str, Callable[[Path], None]], Path]
