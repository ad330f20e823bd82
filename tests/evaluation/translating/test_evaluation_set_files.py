"""Test sets in files: what is unpacked, by hand, and each row that cannot be."""

import json
from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.evaluation.translating import evaluation_sets

PAIR = ("en", "de")


def test_a_table_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "set.tsv"
    file.write_text('doc_id\tsrc\tref\nnews1\tA "dog\tEin "Hund\nnews1\tNo.\tNein.\n')
    test_set = evaluation_sets.find(str(file), PAIR)
    assert (test_set.source, test_set.reference) == (tmp_path / "set.tsv.en-de.en", tmp_path / "set.tsv.en-de.de")
    assert (read_lines(test_set.source), read_lines(test_set.reference)) == (['A "dog', "No."], ['Ein "Hund', "Nein."])
    assert evaluation_sets.find(str(file), PAIR) == test_set
    file.write_text("en\tde\nA\tB\n")
    with pytest.raises(
        UserError, match=r"set\.tsv\.en-de\.en is there, and is another text than that of .*: remove it"
    ):
        evaluation_sets.find(str(file), PAIR)


def test_json_lines_of_wmt_hold_many_pairs_and_translations(tmp_path: Path) -> None:
    """The first reference counts, systems do not; breaks of a paragraph become spaces."""
    file = tmp_path / "wmt25.jsonl"
    rows = [
        {
            "doc_id": "en-de_DE_#_news_#_a",
            "src_text": "A.\n\nB.",
            "tgt_text": {"GPT": "x", "refB": "y", "refA": "A1.\nB1."},
        },
        {"doc_id": "en-cs_CZ_#_news_#_a", "src_text": "A.", "tgt_text": {"refA": "cs"}},
        {"doc_id": "b", "src_lang": "en-US", "tgt_lang": "de_DE", "src_text": "C", "tgt_text": {"refA": "D"}},
        {"doc_id": "b", "src_lang": "en", "tgt_lang": "fr_FR", "src_text": "C", "tgt_text": {"refA": "fr"}},
        {"tgt_lang": "fr", "src_text": "C", "tgt_text": {"refA": "fr"}},
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    test_set = evaluation_sets.find(str(file), PAIR)
    assert (read_lines(test_set.source), read_lines(test_set.reference)) == (["A. B.", "C"], ["A1. B1.", "D"])
    assert read_lines(evaluation_sets.find(str(file), ("en", "cs")).reference) == ["cs"]
    assert evaluation_sets.find(str(file), PAIR) == test_set


@pytest.mark.parametrize("language", ["zh-Hans", "zh_CN"])
def test_a_language_with_a_script_or_region_is_that_of_its_rows(language: str, tmp_path: Path) -> None:
    """A language without one is that of rows with any."""
    file, names = tmp_path / "set.jsonl", [language, "zh-Hant", "zh_TW", "de"]
    rows = [
        {"doc_id": "b", "src_lang": "en", "tgt_lang": name, "src": name, "ref": f"by language {name}"} for name in names
    ]
    rows += [{"doc_id": f"en-{name}_#_news", "src": name, "ref": f"by document {name}"} for name in names]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert read_lines(evaluation_sets.find(str(file), ("en", language)).source) == [language] * 2
    assert read_lines(evaluation_sets.find(str(file), ("en", "zh")).reference) == [
        f"by {kind} {name}" for kind in ("language", "document") for name in names[:3]
    ]


def test_an_empty_reference_and_an_empty_last_line_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text('{"src": "A", "tgt_text": {"refA": null, "refB": "B"}}\n\n')
    test_set = evaluation_sets.find(str(file), PAIR)
    assert (read_lines(test_set.source), read_lines(test_set.reference)) == (["A"], ["B"])


@pytest.mark.parametrize(
    ("name", "content"), [("a.tsv", "src\tref\r\nA\rB\t{}\r\n\r\n"), ("a.jsonl", '{{"src": "A\\rB", "ref": "{}"}}\n')]
)
def test_marks_and_line_ends_of_other_programs_are_no_text(name: str, content: str, tmp_path: Path) -> None:
    paragraph = "C" * 200_000  # more than the csv module allows in a field
    (tmp_path / name).write_bytes(f"\ufeff{content}".format(paragraph).encode())
    test_set = evaluation_sets.find(str(tmp_path / name), PAIR)
    assert (read_lines(test_set.source), read_lines(test_set.reference)) == (["A B"], [paragraph])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "[1]\n", "a.jsonl: line 1 is not a JSON object"),
        ("a.jsonl", '{"src": "a", "tgt_lang": "cs", "src_lang": "en"}\n', "none of its 1 rows is of en-de"),
        ("a.jsonl", '{"src": "a", "tgt_text": {"GPT": "b"}}\n', "row 1 of the pair has none of ref_text, ref, .*, de"),
        ("a.tsv", "src\tnote\na\tb\n", "row 1 of the pair has none of ref_text"),
        ("a.tsv", "src\tref\na\tb\na\tb\tc\n", "line 3 has 3 columns, and line 1 has 2"),
        ("a.txt", "a\n", r"a\.txt is not one of FILE\.tsv, FILE\.jsonl, iwslt17"),
    ],
)
def test_what_is_no_test_set_is_said(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=message):
        evaluation_sets.find(str(tmp_path / name), PAIR)
    assert [path.name for path in tmp_path.iterdir()] == [name]
