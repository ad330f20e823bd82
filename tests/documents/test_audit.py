"""The audit fails at a vulnerability, and says so without failing if its data are out of reach."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from programs.program import REPOSITORY

REPORT: dict[str, Any] = {"dependencies": [{"name": "numpy", "version": "2.4.6", "vulns": []}]}
FLAW = {"id": "PYSEC-2026-1", "fix_versions": ["9.9"]}


@pytest.fixture
def audit() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "tools" / "audit.py"))


def pip_audit(folder: Path, script: str) -> Path:
    """A stand-in for it."""
    program = folder / "bin" / "pip-audit"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("flaws", "status", "line"),
    [([], 0, "1 of 1 packages asked for, 0 known"), ([FLAW], 1, "numpy 2.4.6: PYSEC-2026-1, mended in 9.9")],
)
def test_known_vulnerabilities_fail(
    flaws: list[Any], status: int, line: str, audit: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = {"dependencies": [{**REPORT["dependencies"][0], "vulns": flaws}]}
    (tmp_path / "known").write_text(json.dumps(report))
    script = f"cp '{tmp_path / 'known'}' '{tmp_path / 'venv' / 'report.json'}'; exit {status}"
    folder = pip_audit(tmp_path / "venv", script)
    assert audit["main"](folder) == status
    assert line in capsys.readouterr().out


def test_each_file_of_pins_is_looked_at_alone(
    audit: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """pip-audit refuses a package that two of its files pin, as certifi."""
    (tmp_path / "known").write_text(json.dumps(REPORT))
    venv = tmp_path / "venv"
    copy = f"cp '{tmp_path / 'known'}' '{venv / 'report.json'}'"
    script = f"""test $(printf '%s\\n' "$@" | grep -c requirement) = 1 && {copy}; echo "$2" >> '{tmp_path / "files"}'"""
    assert audit["main"](pip_audit(venv, script)) == 0
    assert (tmp_path / "files").read_text().split() == list(audit["PINS"])
    assert "1 of 1 packages" in capsys.readouterr().out


def test_out_of_reach_is_said(audit: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = pip_audit(tmp_path, "echo 'ConnectionError: no route to host' >&2; exit 1")
    assert audit["main"](folder) == 0
    stderr = capsys.readouterr().err
    assert "NOT DONE" in stderr
    assert "no route to host" in stderr


def test_packages_that_nobody_knows_are_not_called_sound(
    audit: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skipped = {"name": "numpy", "skip_reason": "not found on this index"}
    (tmp_path / "known").write_text(json.dumps({"dependencies": [skipped]}))
    folder = pip_audit(tmp_path / "venv", f"cp '{tmp_path / 'known'}' '{tmp_path / 'venv' / 'report.json'}'")
    assert audit["main"](folder) == 0
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "NOT DONE" in streams.err
    assert "not found on this index" in streams.err
