"""Two of the trials on a real SLURM, of which `make slurm` does all; skipped where its daemons are not installed."""

from pathlib import Path

import pytest

from reliability import cluster, slurm_trials

pytestmark = pytest.mark.skipif(cluster.missing() is not None, reason=str(cluster.missing()))


@pytest.mark.parametrize("trial", ["cancelled by hand", "login node lost"])
def test_real(trial: str, trial_corpus: Path, tmp_path: Path) -> None:
    with cluster.started(tmp_path / "c") as slurm:
        figures = slurm_trials.TRIALS[trial](slurm, trial_corpus, tmp_path / "trial")
    assert "done" in str(figures["outcome"])
