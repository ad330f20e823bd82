"""The requirements of pyproject.toml, their pins, and their licences."""

import importlib.metadata
import re
import subprocess
import sys
from collections import defaultdict

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from programs.program import REPOSITORY

SUITE, WEBSITE = "constraints.txt", "tools/website/constraints.txt"


@pytest.fixture(scope="module")
def requirements(tmp_path_factory: pytest.TempPathFactory) -> list[Requirement]:
    """Everything pyproject.toml asks for, the developer's tools too."""
    folder = tmp_path_factory.mktemp("egg")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    lines = (folder / "realformer_nmt.egg-info" / "requires.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("[")]


def test_pip_can_never_fetch_an_engine_by_itself(requirements: list[Requirement]) -> None:
    names = {requirement.name for requirement in requirements}
    assert "torch" in names
    assert not [name for name in names if "fairseq" in name or "torchaudio" in name]


def test_what_ci_tested_is_pinned_within_the_ranges(requirements: list[Requirement]) -> None:
    pinned = defaultdict(list)
    for pin in pins():
        pinned[canonicalize_name(pin.name)].append(pin)
    torch = re.search(r"^PINNED := (\S+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert torch
    pinned["torch"].append(Requirement(torch[1]))
    for requirement in requirements:
        for pin in pinned[canonicalize_name(requirement.name)]:  # one for Python 3.10, perhaps
            (exact,) = pin.specifier
            assert exact.operator == "=="
            assert exact.version in requirement.specifier
    assert {canonicalize_name(requirement.name) for requirement in requirements} <= pinned.keys()


def pins(file: str = SUITE) -> list[Requirement]:
    lines = (REPOSITORY / file).read_text().splitlines()
    return [Requirement(line.removesuffix("\\")) for line in lines if "==" in line and not line.startswith("#")]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize(("file", "at_least"), [(SUITE, 60), (WEBSITE, 20)])
def test_every_package_is_pinned_once_for_each_python_and_by_hash(file: str, at_least: int, python: str) -> None:
    there = {"python_full_version": f"{python}.0"}
    names = [pin.name for pin in pins(file) if not pin.marker or pin.marker.evaluate(there)]
    assert len(names) == len(set(names)) > at_least
    text = (REPOSITORY / file).read_text()
    assert len(re.findall(r"^\S+==.* \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)) == len(pins(file))


def test_the_licence_of_every_package_is_listed() -> None:
    page = (REPOSITORY / "docs" / "licences.md").read_text()
    (_, *rows) = re.findall(r"^\| (.+) \| (.+) \|$", page, re.MULTILINE)  # without the heading
    listed = [(name, licence) for licence, names in rows for name in names.split(", ")]
    licences = dict(listed)
    assert len(listed) == len(licences)
    assert not [name for name, licence in listed if licence in ("", "not said")]
    pinned = {canonicalize_name(pin.name) for pin in (*pins(), *pins(WEBSITE))}
    assert pinned | {"torch", "fairseq-fixed"} == licences.keys()


def test_what_the_engine_asks_for_is_what_setup_asks_for(requirements: list[Requirement]) -> None:
    names = {requirement.name for requirement in requirements}
    asked_for = [Requirement(line) for line in importlib.metadata.requires("fairseq-fixed") or ()]
    assert {requirement.name for requirement in asked_for if not requirement.marker} <= names


def test_the_dockerfile_installs_what_is_pinned() -> None:
    dockerfile = (REPOSITORY / "Dockerfile").read_text()
    (pinned,) = re.findall(r"^PINNED := (\S+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^ARG TORCH=(\S+)$", dockerfile, re.MULTILINE) == [pinned]
    (image,) = set(re.findall(r"^FROM python:\$\{PYTHON\}-(?:slim-)?(\w+)", dockerfile, re.MULTILINE))
    assert image == "bookworm"  # the same system in both stages
