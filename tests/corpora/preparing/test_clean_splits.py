"""Counts, held-out validation data and raw texts of cleaned pairs, against an independent computation."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from realformer_nmt.corpora.manifest_schema import HeldOut, Lengths, TextProtocol
from realformer_nmt.corpora.preparing.clean_splits import Files, Plan, write_texts

SEGMENTS = st.sampled_from(["", "a", "b b", "c c c c", "a\r", "d\u2028d", "\u201ee\u201c", "f " * 9])
PAIRS = st.lists(st.tuples(SEGMENTS, SEGMENTS), max_size=25)


def plan(held_out: HeldOut | None = None, counted: str = "before_bpe", validation: bool = True, **changes: Any) -> Plan:
    lengths = Lengths(1, 8, 3, counted, validation)
    protocol = TextProtocol(True, True, False, False, False, 100, True, lengths)
    options = {"invalid_utf8": "refuse", "tokenised": False, "deduplicate": False, **changes}
    return Plan("en", "de", protocol, held_out, **options)


def files(folder: Path, name: str, pairs: list[tuple[str, str]], form: str = "text") -> Files:
    paths = [folder / f"in-{name}.{language}" for language in ("en", "de")]
    for side, path in enumerate(paths):
        lines = [f'<seg id="1">{pair[side]}</seg>' if form == "sgm" else pair[side] for pair in pairs]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    return Files(name, *paths, form)


def read(folder: Path, name: str) -> list[tuple[str, ...]]:
    sides = [(folder / f"{name}.{language}").read_bytes().decode().split("\n")[:-1] for language in ("en", "de")]
    return list(zip(*sides, strict=True))


def clean(pair: tuple[str, str]) -> tuple[str, ...]:
    """Clean a pair of the segments above by hand."""
    return tuple(" ".join(side.replace("\u201e", '"').replace("\u201c", '"').split()) for side in pair)


def wrong(pair: tuple[str, ...]) -> str | None:
    one, two = (len(side.split()) for side in pair)
    if not (one and two):
        return "empty"
    return "too_long" if max(one, two) > 8 else "ratio" if max(one, two) > 3 * min(one, two) else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@settings(max_examples=40)
@given(
    first=PAIRS, second=PAIRS, every=st.integers(2, 5), counted=st.sampled_from(["before_cleaning", "after_cleaning"])
)
def test_every_nth_pair_is_held_out(
    folder: Path, first: list[tuple[str, str]], second: list[tuple[str, str]], every: int, counted: str
) -> None:
    parts = {"train": (files(folder, "1", first), files(folder, "2", second)), "valid": (), "test": ()}
    report = write_texts(parts, plan(HeldOut(every, counted)), 1, folder)
    numbered = list(enumerate(first + second, 1))
    good = [(number, pair) for number, pair in numbered if wrong(clean(pair)) is None]
    if counted == "after_cleaning":
        good = list(enumerate((pair for _, pair in good), 1))
    valid = [pair for number, pair in good if number % every == 0]
    assert read(folder, "valid.raw") == valid
    assert read(folder, "valid") == [clean(pair) for pair in valid]
    assert read(folder, "train") == [clean(pair) for number, pair in good if number % every]
    for part, pairs in zip(report, (first, second), strict=True):
        reasons = [wrong(clean(pair)) for pair in pairs]
        assert part.dropped == {reason: reasons.count(reason) for reason in sorted({*reasons} - {None})}
        assert part.pairs == len(pairs) == part.kept + part.held_out + sum(part.dropped.values())


@settings(max_examples=40)
@given(pairs=PAIRS)
def test_of_equal_training_pairs_the_first_stays(folder: Path, pairs: list[tuple[str, str]]) -> None:
    parts = {"train": (files(folder, "1", pairs), files(folder, "2", pairs)), "valid": (), "test": ()}
    report = write_texts(parts, plan(deduplicate=True), 1, folder)
    good = [clean(pair) for pair in pairs if wrong(clean(pair)) is None]
    assert read(folder, "train") == list(dict.fromkeys(good))
    assert [part.kept for part in report] == [len(set(good)), 0]
    assert [part.dropped.get("repeated") for part in report] == [len(good) - len(set(good)) or None, len(good) or None]


@settings(max_examples=40)
@given(pairs=PAIRS, every=st.integers(2, 5), counted=st.sampled_from(["before_cleaning", "after_cleaning"]))
def test_no_pair_is_both_held_out_and_trained_on(
    folder: Path, pairs: list[tuple[str, str]], every: int, counted: str
) -> None:
    parts = {"train": (files(folder, "1", pairs), files(folder, "2", pairs)), "valid": (), "test": ()}
    report = write_texts(parts, plan(HeldOut(every, counted), deduplicate=True), 1, folder)
    good = {clean(pair) for pair in pairs if wrong(clean(pair)) is None}
    train, valid = read(folder, "train"), read(folder, "valid")
    assert not set(train) & set(valid)
    assert set(train) | set(valid) == good
    assert len(train) == len(set(train)) == sum(part.kept for part in report)
    assert all(part.pairs == part.kept + part.held_out + sum(part.dropped.values()) for part in report)


def test_validation_files_are_not_part_of_the_training_pairs(folder: Path) -> None:
    parts = {"train": (files(folder, "1", [("a", "b")] * 2),), "valid": (files(folder, "2", [("a", "b")]),), "test": ()}
    write_texts(parts, plan(deduplicate=True), 1, folder)
    assert read(folder, "train") == read(folder, "valid") == [("a", "b")]


def test_test_pairs_all_stay_and_validation_pairs_if_not_filtered(folder: Path) -> None:
    pairs = [("", "a"), ("f " * 9, "a"), ("l\u2019an \u201ex\u201c", "\u2026"), ("a", "b")]
    parts = {split: (files(folder, split, pairs, "sgm"),) for split in ("train", "valid", "test")}
    write_texts(parts, plan(validation=False), 1, folder)
    assert read(folder, "test") == [("", "a"), ("f f f f f f f f f", "a"), ("l'an \u201ex\u201c", "\u2026"), ("a", "b")]
    assert read(folder, "test.raw")[2] == ("l\u2019an \u201ex\u201c", "\u2026")
    assert read(folder, "valid") == [("f f f f f f f f f", "a"), ('l\'an "x"', "..."), ("a", "b")]
    assert len(read(folder, "valid.raw")) == 3
    assert len(read(folder, "train")) == 2


def test_processes_change_nothing(folder: Path) -> None:
    pairs = [(f"\u201eword {number}\u201c " + "x " * (number % 11), f"wort {number}") for number in range(9001)]
    parts = {"train": (files(folder, "many", pairs),), "valid": (), "test": ()}
    outputs = []
    for workers in (1, 3):
        write_texts(parts, plan(HeldOut(1000, "before_cleaning"), tokenised=True), workers, folder)
        outputs.append([read(folder, name) for name in ("train", "valid", "valid.raw")])
    assert outputs[0] == outputs[1]
    assert len(outputs[0][0]) == sum(number % 11 <= 2 and number % 1000 != 999 for number in range(9001))
