"""Names of languages, and the pair of a data-bin, where fairseq can tell it too."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.languages import check_language, pair_in, pair_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = st.text(LETTERS + LETTERS.upper() + "0123456789_", min_size=1, max_size=9)
NAMES = st.lists(WORD, min_size=1, max_size=3).map("-".join)


@given(NAMES, NAMES)
def test_every_pair_is_found_again_in_the_names_of_its_files(source: str, target: str) -> None:
    for language in (source, target):
        check_language(language)
    with TemporaryDirectory() as folder:
        for language in (source, target):
            Path(folder, f"dict.{language}.txt").touch()
        pairs = [pair_of(Path(folder, f"train.{source}-{target}.{language}.idx")) for language in (source, target)]
    if f"{source}-{target}" == f"{target}-{source}":  # both orders have the same file names, as a-a to a
        assert all(set(pair or ()) == {source, target} for pair in pairs)
    else:
        assert pairs == [(source, target)] * 2


@pytest.mark.parametrize(("source", "target"), [("de-CH", "de"), ("de", "CH-de"), ("zh-Hant", "zh"), ("en", "zh-Hans")])
def test_a_source_that_begins_with_the_target_makes_one_pair(source: str, target: str, tmp_path: Path) -> None:
    for language in (source, target):
        (tmp_path / f"train.{source}-{target}.{language}.idx").touch()
        (tmp_path / f"dict.{language}.txt").touch()
    assert pair_in(tmp_path) == (source, target)


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
    with pytest.raises(UserError, match=r"holds en-de, fr-de: keep each pair in a folder of its own"):
        pair_in(tmp_path)
