"""The README's trial, run as it stands there."""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_trial(tmp_path: Path) -> None:
    readme = (REPOSITORY / "README.md").read_text()
    trial = re.search(r"## A trial.*?```bash\n(.*?)```", readme, re.DOTALL)
    claim = re.search(r"all (\d+) sentences translated, BLEU of ([\d.]+) or more", readme)
    assert trial
    assert claim
    scripts = Path(sysconfig.get_path("scripts"))
    (tmp_path / "realformer_nmt").symlink_to(REPOSITORY / "realformer_nmt")
    run = subprocess.run(
        [str(shutil.which("bash")), "-euc", trial[1].replace("source .venv/bin/activate\n", "")],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"},
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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["realformer_nmt", "toy"]
