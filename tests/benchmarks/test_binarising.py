from pathlib import Path

import pytest
from binarising import repeat


@pytest.mark.parametrize(("number", "expected"), [(0, ""), (2, "a\nb\n"), (3, "a\nb\nc\n"), (4, "a\nb\nc\na\n")])
def test_a_corpus_has_the_pairs_that_its_row_says(number: int, expected: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\nb\nc\n")
    repeat(tmp_path / "text", number, tmp_path / "corpus")
    assert (tmp_path / "corpus").read_text() == expected
