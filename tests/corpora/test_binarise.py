"""fairseq's binarisation: what is in the data-bin, read by fairseq, and a line that fairseq would split."""

from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.binarise import binarise

pytestmark = pytest.mark.usefixtures("forks")

LANGUAGES = ("en", "de")
TEXTS = {
    "train": (["\u2581a \u2581b c", "b", "a \u2581b"], ["\u2581z a", "a a a a", "c"]),
    "valid": (["\u2581b unknown"], ["a"]),
    "test": ([], []),
}


def write(folder: Path, texts: dict[str, tuple[list[str], list[str]]]) -> None:
    for split, sides in texts.items():
        for language, lines in zip(LANGUAGES, sides, strict=True):
            (folder / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")


def test_fairseq_reads_back_what_was_written(tmp_path: Path) -> None:
    write(tmp_path, TEXTS)
    out = tmp_path / "data-bin"
    assert binarise(tmp_path, LANGUAGES, out, 1, [], True) == {"train": 3, "valid": 1}
    dictionaries = [Dictionary.load(str(out / f"dict.{language}.txt")) for language in LANGUAGES]
    assert dictionaries[0].symbols == dictionaries[1].symbols
    assert len(dictionaries[0]) % 8 == 0
    for split in ("train", "valid"):
        for language, dictionary, lines in zip(LANGUAGES, dictionaries, TEXTS[split], strict=True):
            data = data_utils.load_indexed_dataset(str(out / f"{split}.en-de.{language}"), dictionary)
            expected = [line.replace("unknown", "<unk>") for line in lines]
            assert [dictionary.string(tokens) for tokens in data] == expected
    assert not (out / "preprocess.log").exists()


def test_a_line_that_fairseq_splits_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, {**TEXTS, "valid": (["a\rb"], ["a"])})
    (tmp_path / "dictionary").write_text("\u2581a 1\nb 1\n", "utf-8")
    with pytest.raises(UserError, match=r"valid\.en has 1 lines, but fairseq binarised 2"):
        binarise(tmp_path, LANGUAGES, tmp_path / "data-bin", 1, [tmp_path / "dictionary"], True)


def test_a_failure_of_fairseq_is_told(tmp_path: Path) -> None:
    write(tmp_path, TEXTS)
    (tmp_path / "dictionary").write_text("a 1\na 1\n", "utf-8")
    with pytest.raises(UserError, match=r"(?s)status 1:.*Duplicate word found"):
        binarise(tmp_path, LANGUAGES, tmp_path / "data-bin", 1, [tmp_path / "dictionary"], True)
