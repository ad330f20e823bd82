"""One of the trials on a real SLURM, of which `make slurm` does all; skipped where its daemons are not installed."""

from pathlib import Path

import pytest

from reliability import cluster, slurm_trials

pytestmark = pytest.mark.skipif(cluster.missing() is not None, reason=str(cluster.missing()))


def test_a_lost_login_node(trial_corpus: Path, tmp_path: Path) -> None:
    """A cluster starts, trains, and loses the process that watches it: 40 seconds."""
    with cluster.started(tmp_path / "c") as slurm:
        figures = slurm_trials.TRIALS["login node lost"](slurm, trial_corpus, tmp_path / "trial")
    assert "done" in str(figures["outcome"])
