"""constraints.txt: every package but torch's, by version and hash, for each Python. Needs uv (pip install uv).
The website's packages, which `make docs` alone installs, have a file of their own.

A pin stays as long as its range allows it; `--upgrade` raises all of them, `--upgrade-package NAME` one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

OF_TORCH = re.compile(r"(torch|triton|nvidia-|cuda-)")
COMPILE = ("uv", "pip", "compile", "--universal", "--python-version", "3.10")
SUITE = """\
# What CI tests, by version and hash, for Python 3.10 to 3.13. Made by `make constraints`; the ranges are those of
# pyproject.toml.
# Not here: torch and what CUDA needs with it, whose build is the user's choice (TORCH, TORCH_INDEX of the Makefile).
"""
WEBSITE = """\
# What `make docs` installs, by version and hash, for Python 3.10 to 3.13. Made by `make constraints`; packages.in
# holds the ranges.
"""


def main() -> None:
    pin(Path("constraints.txt"), SUITE, "pyproject.toml", "--extra", "dev")
    pin(Path("tools/website/constraints.txt"), WEBSITE, "tools/website/packages.in")


def pin(file: Path, head: str, *ranges: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder, file.name)
        compiled.write_text(file.read_text())  # whose pins uv prefers
        output = ("--generate-hashes", "--no-header", "--no-annotate", "--quiet", "--output-file", str(compiled))
        subprocess.run([*COMPILE, *ranges, *output, *sys.argv[1:]], check=True)
        pins = re.split(r"^(?=[a-z])", compiled.read_text(), flags=re.MULTILINE)
    file.write_text(head + "".join(each for each in pins if "==" in each and not OF_TORCH.match(each)))


if __name__ == "__main__":
    main()
