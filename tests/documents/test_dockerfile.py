"""The Dockerfile before a linter that knows its language and its shell, and against what `make install` pins."""

import re
import subprocess
import sysconfig
from pathlib import Path

from programs.program import REPOSITORY

HADOLINT = Path(sysconfig.get_path("scripts"), "hadolint")
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


def test_the_linter_finds_nothing() -> None:
    done = subprocess.run([HADOLINT, "-"], input=DOCKERFILE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_installs_what_is_pinned() -> None:
    (pinned,) = re.findall(r"^PINNED := (\S+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^ARG TORCH=(\S+)$", DOCKERFILE, re.MULTILINE) == [pinned]
    (image,) = set(re.findall(r"^FROM python:\$\{PYTHON\}-(?:slim-)?(\w+)", DOCKERFILE, re.MULTILINE))
    assert image == "bookworm"  # the same system in both stages
