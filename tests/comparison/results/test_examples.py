"""A report quotes the very files that were scored, and the source that was prepared."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from texts import translation_records

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.json_records import seal
from realformer_nmt.comparison.results.examples import examples, lines, source_lines
from realformer_nmt.evaluation.run_record import RecordedFile, RunRecord


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_hypothesis_is_quoted_as_far_as_it_is_the_one_scored(tmp_path: Path) -> None:
    cell = SimpleNamespace(folder=tmp_path, scores=tmp_path / "run.json")
    run = RunRecord(files={"hypotheses": RecordedFile(path="hypotheses.txt", sha256=sha256("eins\nzwei\n"))})
    (tmp_path / "hypotheses.txt").write_text("eins\nzwei\n")
    assert lines(cell, run, "hypotheses") == ["eins", "zwei"]
    (tmp_path / "secret").write_text("of another file\n")
    (tmp_path / "hypotheses.txt").unlink()
    (tmp_path / "hypotheses.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match=r"hypotheses\.txt is missing or has changed since .*run\.json was written"):
        lines(cell, run, "hypotheses")


def test_only_translations_of_one_text_are_quoted(tmp_path: Path) -> None:
    """A cell that was scored before the test set was changed has other lines, and fewer of them."""
    cells, runs = [], []
    for name, length in (("new", 3), ("old", 2)):
        texts = {
            kind: "".join(f"{name} {kind} {line}\n" for line in range(length)) for kind in ("reference", "hypotheses")
        }
        files = {kind: RecordedFile(path=f"{name}.{kind}", sha256=sha256(text)) for kind, text in texts.items()}
        for kind, text in texts.items():
            (tmp_path / f"{name}.{kind}").write_text(text)
        cells.append(SimpleNamespace(name=name, seed=1, folder=tmp_path, scores=tmp_path / "run.json"))
        runs.append(RunRecord(files=files))
    quoted = examples(cells, runs)
    assert [each.reference for each in quoted] == [f"new reference {line}" for line in range(3)]
    assert [each.hypotheses for each in quoted] == [{"new": f"new hypotheses {line}"} for line in range(3)]


def test_a_source_is_quoted_as_far_as_it_is_the_one_prepared_beside_the_reference(tmp_path: Path) -> None:
    """The cell and its corpus were moved, and another corpus was prepared in their old place."""
    cell = SimpleNamespace(folder=tmp_path / "moved" / "cell")
    for folder, content in {"moved": "one\n", "old": "another\n"}.items():
        note = {"bytes": {"test.raw.en": len(content)}, "sha256": {"test.raw.en": sha256(content)}}
        (tmp_path / folder / "cell").mkdir(parents=True)
        (tmp_path / folder / "test.raw.en").write_text(content)
        (tmp_path / folder / "prepare.json").write_text(json.dumps({**note, "seal": seal(note)}))
    files = {"reference": RecordedFile(path="../test.raw.de", sha256="")}
    translation = translation_records.record(prepared=str(tmp_path / "old"), subset="test")
    assert source_lines(cell, RunRecord(translation=translation, files=files)) == ["one"]
    (tmp_path / "moved" / "test.raw.en").write_text("two\n")
    with pytest.raises(UserError, match=r"test\.raw\.en is missing or has changed since .*prepare\.json"):
        source_lines(cell, RunRecord(translation=translation, files=files))
    translation = translation_records.record(prepared=str(tmp_path), subset="../other")
    assert source_lines(cell, RunRecord(translation=translation, files=files)) == []
