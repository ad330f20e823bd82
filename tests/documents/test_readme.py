"""What the README and the trial in docs/training.md tell a reader to type."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from recipe import path_with_fairseq

from realformer_nmt.command import SUBCOMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_trial(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "training.md").read_text()
    trial = re.search(r"## A trial.*?```bash\n(.*?)```", page, re.DOTALL)
    claim = re.search(r"all (\d+) sentences translated, BLEU of ([\d.]+) or more", page)
    assert trial
    assert claim
    programs, folder = tmp_path / "programs", tmp_path / "cwd"
    folder.mkdir()
    (folder / "realformer_nmt").symlink_to(REPOSITORY / "realformer_nmt")
    run = subprocess.run(
        [str(shutil.which("bash")), "-euc", trial[1].replace("source .venv/bin/activate\n", "")],
        cwd=folder,
        env={**os.environ, "PATH": path_with_fairseq(programs), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert f"Translated {claim[1]} sentences" in run.stderr
    scored = re.search(r"BLEU = ([\d.]+)", run.stdout)
    assert scored
    assert float(scored[1]) >= float(claim[2])
    assert "decoder.layers.1.ffn" in run.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["realformer_nmt", "toy"]


def test_the_readme_names_what_there_is() -> None:
    """Targets of make, subcommands, recipes and pages."""
    readme = (REPOSITORY / "README.md").read_text()
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)", readme))
    assert {"demo", "test"} <= named <= targets
    subcommands = set(re.findall(r"realformer-nmt ([a-z][a-z-]+)", readme))
    assert "compare" in subcommands <= {subcommand.name for subcommand in SUBCOMMANDS}
    links = set(re.findall(r"\]\(([^)#:]+)\)", readme)) | set(re.findall(r"^(recipes/\S+)", readme, re.MULTILINE))
    assert [link for link in sorted(links) if not (REPOSITORY / link).exists()] == []
