"""Packages that fairseq needs for few trainings are imported when they are asked for, and work as ever."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs.program import REPOSITORY

from realformer_nmt.common.late_imports import frozen
from realformer_nmt.common.processes.python_subprocess import program

FIGURES = """
import json, sys
from fairseq.criterions import sentence_prediction
from fairseq.tasks import audio_classification
late = [name for name in ("sklearn", "scipy") if name in sys.modules]
given = [1, 0, 1, 1], [1, 1, 1, 0]
figures = [
    sentence_prediction.f1_score(*given, average="macro"),
    sentence_prediction._matthews_corrcoef(*given),
    *sentence_prediction.pearsonr([1, 2, 3], [1, 2, 4]),
    *sentence_prediction.spearmanr([1, 2, 3], [2, 1, 4]),
    audio_classification.sklearn_metrics.accuracy_score(*given),
]
import scipy.stats, sklearn.metrics
kinds = [type(module).__name__ for module in (sklearn, sklearn.metrics, scipy.stats)]
print(json.dumps([late, [float(figure) for figure in figures], kinds]))
"""


@pytest.mark.parametrize("start", ["our package first", "a program"])
def test_figures_are_sklearns_and_scipys(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import stats
    from sklearn import metrics

    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY}:{tmp_path}")
    (tmp_path / "figures.py").write_text(FIGURES)
    package = [sys.executable, "-c", f"import realformer_nmt\n{FIGURES}"]
    words = program("figures") if start == "a program" else package
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    late, figures, kinds = json.loads(done.stdout.splitlines()[-1])
    assert late == []
    labels = [1, 0, 1, 1], [1, 1, 1, 0]
    assert figures == pytest.approx(
        [
            metrics.f1_score(*labels, average="macro"),
            metrics.matthews_corrcoef(*labels),
            *stats.pearsonr([1, 2, 3], [1, 2, 4]),
            *stats.spearmanr([1, 2, 3], [2, 1, 4]),
            metrics.accuracy_score(*labels),
        ]
    )
    assert kinds == ["module"] * 3


def test_collection_pauses_in_the_first_import_alone() -> None:
    before = gc.get_freeze_count()
    with frozen("gc"):  # which is imported
        assert gc.isenabled()
    assert gc.get_freeze_count() == before
    with frozen("no_such_module"):
        assert not gc.isenabled()
        brought: list[list[int]] = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(brought)
    gc.unfreeze()
