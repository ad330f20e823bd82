"""A record notices when the files and settings that it was made from are changed."""

import hashlib
import os
from pathlib import Path

from msgspec.structs import replace

from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.stages.provenance import differences, fingerprint, made_from


def test_settings_that_changed_are_named_with_both_values() -> None:
    before = made_from({"epochs": 2, "model": {"dropout": 0.2}, "seed": 1, "user_dir": "/home/a/mine"}, {})
    now = made_from({"epochs": 3, "model": {"dropout": 0.4}, "seed": 1, "user_dir": "/home/b/mine"}, {})
    assert differences(before, now) == ["epochs was 2, is now 3", "model.dropout was 0.2, is now 0.4"]
    assert differences(before, made_from({**before.settings, "user_dir": "mine"}, {})) == []  # its files are compared


def test_an_input_is_its_contents_and_neither_its_place_nor_its_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"words")
    other.write_bytes(b"words")
    before = made_from({}, {"corpus": one})
    assert before.inputs["corpus"].sha256 == hashlib.sha256(b"words").hexdigest()
    os.utime(one, ns=(1, 1))
    assert differences(before, made_from({}, {"corpus": one})) == []
    assert differences(before, made_from({}, {"corpus": other})) == []
    other.write_bytes(b"sword")
    assert differences(before, made_from({}, {"corpus": other})) == ["corpus is another file"]
    assert differences(before, made_from({}, {})) == []  # it may be gone: its hash is known


def test_a_copy_of_one_input_does_not_stand_for_another(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("one", "two", "copy", "moved")}
    for name, words in zip(files, (b"1", b"2", b"1", b"2"), strict=True):
        files[name].write_bytes(words)

    def made(*names: str) -> Origin:
        return made_from({}, {name: files[name] for name in names})

    assert differences(made("one", "two"), made("one", "copy")) == ["copy is another file"]
    assert differences(made("one", "two"), made("one", "moved")) == []


def test_a_known_hash_serves_as_long_as_size_and_time_stay(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"first")
    earlier_fingerprint = replace(fingerprint(file), sha256="known")
    assert fingerprint(file, earlier_fingerprint).sha256 == "known"
    file.write_bytes(b"other")
    os.utime(file, ns=(2, 2))
    assert fingerprint(file, earlier_fingerprint).sha256 == hashlib.sha256(b"other").hexdigest()
