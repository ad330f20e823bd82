"""constraints.txt: every package but torch's, by version and hash, for each Python. Needs uv (pip install uv).

A pin stays as long as setup.py allows it; `--upgrade` raises all of them, `--upgrade-package NAME` one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path("constraints.txt")
OF_TORCH = re.compile(r"(torch|triton|nvidia-|cuda-)")
COMPILE = ("uv", "pip", "compile", "setup.py", "--extra", "dev", "--universal", "--python-version", "3.10")
HEAD = """\
# What CI tests, by version and hash, for Python 3.10 to 3.13. Made by `make constraints`; setup.py holds the ranges.
# Not here: torch and what CUDA needs with it, whose build is the user's choice (TORCH, TORCH_INDEX of the Makefile).
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder, FILE.name)
        compiled.write_text(FILE.read_text())  # whose pins uv prefers
        output = ("--generate-hashes", "--no-header", "--no-annotate", "--quiet", "--output-file", str(compiled))
        subprocess.run([*COMPILE, *output, *sys.argv[1:]], check=True)
        pins = re.split(r"^(?=[a-z])", compiled.read_text(), flags=re.MULTILINE)
    FILE.write_text(HEAD + "".join(pin for pin in pins if "==" in pin and not OF_TORCH.match(pin)))


if __name__ == "__main__":
    main()
