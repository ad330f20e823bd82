"""run.json of a cell: none yet, whole, without what a report counts, and with a metric that nobody knows."""

from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.comparison.records.cell_state import read_run
from reliability.fuzzed_inputs import RUN


def test_a_run_is_read_where_there_is_one(tmp_path: Path) -> None:
    assert read_run(tmp_path / "run.json") is None
    json_records.write_sealed(tmp_path / "run.json", RUN)
    run = read_run(tmp_path / "run.json")
    assert run is not None
    assert (run.lines, run.scores["bleu"].score) == (1, 1.5)


def test_an_unknown_metric_is_refused_by_its_name(tmp_path: Path) -> None:
    json_records.write_sealed(tmp_path / "run.json", {**RUN, "scores": {"beauty": RUN["scores"]["bleu"]}})
    with pytest.raises(UserError, match=r"run\.json has scores in 'beauty', which is no metric: pass the --user-dir"):
        read_run(tmp_path / "run.json")
