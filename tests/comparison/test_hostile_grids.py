"""Hostile grids, protocols and manifests; reliability/attacks_files.py tries all of its tables."""

from pathlib import Path

from reliability import attacks_files


def test_what_a_file_may_not_say_is_refused_in_a_line(toy_corpus: Path, tmp_path: Path) -> None:
    assert attacks_files.refuse_grids(toy_corpus, tmp_path / "grids", 5) > 9
    assert attacks_files.refuse_protocols(toy_corpus, tmp_path / "protocols", 5) > 4
    assert attacks_files.refuse_manifests(tmp_path / "manifests", 7) > 4
