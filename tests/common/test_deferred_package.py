"""A package of a --user-dir in a process that needs one of its modules."""

import importlib
from pathlib import Path

import pytest

from realformer_nmt.corpora.subwords import subwords
from realformer_nmt.corpora.subwords.subword_methods import SubwordMethod


def test_a_package_runs_once_and_only_if_one_of_its_names_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "deferred_rows"
    package.mkdir()
    log = tmp_path / "log"
    package.joinpath("__init__.py").write_text(
        f"print('runs', file=open({str(log)!r}, 'a'))\nfrom .split import load\n"
    )
    package.joinpath("split.py").write_text("def load(folder): return list\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert subwords.encoder(SubwordMethod(encoder="deferred_rows.split:load", detokenise=""), tmp_path)(["a"]) == ["a"]
    assert not log.exists()
    assert subwords.encoder(SubwordMethod(encoder="deferred_rows:load", detokenise=""), tmp_path)(["a"]) == ["a"]
    importlib.import_module("deferred_rows")
    assert log.read_text() == "runs\n"
