"""The audit fails at a vulnerability, and says so without failing if its data are out of reach."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from programs.program import REPOSITORY

FLAW = {"id": "PYSEC-2026-1", "fix_versions": ["9.9"]}


@pytest.fixture
def audit() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "tools" / "audit.py"))


def pip_audit(folder: Path, script: str) -> Path:
    """Write a stand-in for pip-audit."""
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
    report = {"dependencies": [{"name": "numpy", "version": "2.4.6", "vulns": flaws}]}
    (tmp_path / "known").write_text(json.dumps(report))
    script = f"cp '{tmp_path / 'known'}' '{tmp_path / 'venv' / 'report.json'}'; exit {status}"
    folder = pip_audit(tmp_path / "venv", script)
    assert audit["main"](folder) == status
    assert line in capsys.readouterr().out


def test_out_of_reach_is_said(audit: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = pip_audit(tmp_path, "echo 'ConnectionError: no route to host' >&2; exit 1")
    assert audit["main"](folder) == 0
    stderr = capsys.readouterr().err
    assert "NOT DONE" in stderr
    assert "no route to host" in stderr
