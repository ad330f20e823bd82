"""Names of languages, and the pair of a data-bin, where fairseq can tell it too."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.languages import check_language, pair_in, pair_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = st.text(LETTERS + LETTERS.upper() + "0123456789_", min_size=1, max_size=9)
NAMES = st.lists(WORD, min_size=1, max_size=3).map("-".join)


@given(NAMES, NAMES)
def test_every_name_is_found_again_in_the_name_of_a_file(source: str, target: str) -> None:
    for language in (source, target):
        check_language(language)
        parted = pair_of(Path(f"train.{source}-{target}.{language}.idx"))
        assert parted is not None
        assert "-".join(parted) == f"{source}-{target}"
        assert language in parted
    if "-" not in source + target and source != target:
        assert parted == (source, target)  # as fairseq parts it, at the one hyphen


@given(NAMES, st.characters(exclude_characters=LETTERS + LETTERS.upper() + "0123456789_-"), NAMES)
def test_any_other_letter_is_refused(before: str, letter: str, after: str) -> None:
    for name in (f"{before}{letter}", f"{letter}{after}", f"{before}{letter}{after}"):
        with pytest.raises(ValueError, match="names no language: allowed are letters"):
            check_language(name)


@pytest.mark.parametrize("name", ["", "-", "-de", "de-", "a--b", "de\n", None, 5, ["de"]])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match="names no language"):
        check_language(name)


def test_a_folder_of_two_pairs_is_not_guessed_at(tmp_path: Path) -> None:
    for name in ("train.align.en-de.idx", "train.en-de.en.idx", "train.en-de.de.idx", "dict.en.txt"):
        (tmp_path / name).touch()
    assert pair_in(tmp_path) == ("en", "de")
    (tmp_path / "train.fr-de.fr.idx").touch()
    with pytest.raises(UserError, match=r"holds en-de, fr-de: pass --source-lang"):
        pair_in(tmp_path)
