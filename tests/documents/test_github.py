"""Files that GitHub and pre-commit read, against the Makefile and the pinned versions."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml
from programs.program import REPOSITORY

import realformer_nmt

SCRIPTS = Path(sysconfig.get_path("scripts"))
WORKFLOW = REPOSITORY / ".github" / "workflows" / "tests.yml"


def jobs() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())
    return dict(workflow["jobs"])


def test_the_workflow_runs_what_there_is_on_every_python_that_is_pinned() -> None:
    pinned = (REPOSITORY / "constraints.txt").read_text()
    oldest, newest = re.findall(r"for Python 3\.(\d+) to 3\.(\d+)", pinned)[0]
    pythons = [f"3.{minor}" for minor in range(int(oldest), int(newest) + 1)]
    assert [job["strategy"]["matrix"]["python"] for job in jobs().values()] == [pythons, pythons]
    steps = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs().items()}
    assert steps == {"push": ["make check", "make unit"], "nightly": [".ci/run", "make stock"]}
    targets = re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert {"check", "unit", "stock"} <= {*targets}
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)


def test_the_citation_is_of_this_version() -> None:
    assert yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())["version"] == realformer_nmt.__version__


@pytest.mark.parametrize(
    ("hook", "text", "message"),
    [
        ("ruff-check", "import os\n", "F401"),
        ("ruff-format", "x = [1,2]\n", "1 file reformatted"),
        pytest.param("mypy", "x: int = ''\n", "Incompatible types in assignment", marks=pytest.mark.product),
    ],
)
def test_a_hook_runs_the_tool_of_the_environment(hook: str, text: str, message: str, tmp_path: Path) -> None:
    """The repository has one wrong file; there is no network, and nothing on PATH but the system's programs."""
    configuration = (REPOSITORY / ".pre-commit-config.yaml").read_text()
    (tmp_path / ".pre-commit-config.yaml").write_text(configuration)
    (tmp_path / "pyproject.toml").write_text('[tool.mypy]\nfiles = ["wrong.py"]\n')
    (tmp_path / "wrong.py").write_text(text)
    environment = {
        **{"PATH": os.defpath, "HOME": str(tmp_path), "PRE_COMMIT_HOME": str(tmp_path / "cache")},
        **{"VENV": sys.prefix, "MYPY_CACHE_DIR": str(tmp_path / "mypy"), "https_proxy": "http://127.0.0.1:9"},
    }
    for command in (["git", "init", "--quiet"], ["git", "add", "--all"]):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    command = [str(SCRIPTS / "pre-commit"), "run", "--all-files", hook]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stdout
