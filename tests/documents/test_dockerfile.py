"""The Dockerfile before a linter that knows its language and its shell, and against what `make install` pins."""

import re
import subprocess
import sysconfig
from pathlib import Path

from programs.program import REPOSITORY

HADOLINT = Path(sysconfig.get_path("scripts"), "hadolint")
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


def lint(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HADOLINT, "-"], input=text, capture_output=True, text=True, check=False)


def test_the_linter_finds_nothing() -> None:
    done = lint(DOCKERFILE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "DL3020" in lint(DOCKERFILE.replace("COPY . .", "ADD . .")).stdout
    assert lint(DOCKERFILE.replace("RUN make", "RUM make")).returncode != 0


def test_it_installs_what_is_pinned() -> None:
    (pinned,) = re.findall(r"^PINNED := (\S+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^ARG TORCH=(\S+)$", DOCKERFILE, re.MULTILINE) == [pinned]
    (image,) = set(re.findall(r"^FROM python:\$\{PYTHON\}-(?:slim-)?(\w+)", DOCKERFILE, re.MULTILINE))
    assert image == "bookworm"  # the same system in both stages
