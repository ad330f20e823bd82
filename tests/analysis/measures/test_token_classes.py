import pytest

from realformer_nmt.analysis.measures.token_classes import is_punctuation, word_of_each


@pytest.mark.parametrize("piece", [",", ".", "\N{LOWER ONE EIGHTH BLOCK}!", "&apos;", "&quot;", "@-@", "...", "%"])
def test_punctuation(piece: str) -> None:
    assert is_punctuation(piece)


@pytest.mark.parametrize("piece", ["a", "\N{LOWER ONE EIGHTH BLOCK}", "a,", "10", "b@@", "&apos;s", "ß"])
def test_no_punctuation(piece: str) -> None:
    assert not is_punctuation(piece)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [("ha@@ us x", [0, 0, 1]), ("a b c", [0, 1, 2]), ("▁ha us ▁x", [0, 0, 1]), ("us ▁x y", [0, 1, 1]), ("", [])],
)
def test_words_of_pieces(pieces: str, words: list[int]) -> None:
    assert word_of_each(pieces.split()) == words
