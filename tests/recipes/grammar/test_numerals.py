"""Numbers in words and digits, against words written by hand and a rule told the other way round."""

import pytest
from grammar.numerals import digits, spelt


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (2, "two", "zwei"),
        (12, "twelve", "zwölf"),
        (16, "sixteen", "sechzehn"),
        (17, "seventeen", "siebzehn"),
        (20, "twenty", "zwanzig"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (77, "seventy-seven", "siebenundsiebzig"),
        (100, "one hundred", "einhundert"),
        (101, "one hundred one", "einhunderteins"),
        (616, "six hundred sixteen", "sechshundertsechzehn"),
        (742, "seven hundred forty-two", "siebenhundertzweiundvierzig"),
    ],
)
def test_in_words(number: int, english: str, german: str) -> None:
    assert spelt(number) == (english, german)


def test_no_two_numbers_share_a_word() -> None:
    for language in zip(*map(spelt, range(2, 1000)), strict=True):
        assert len(set(language)) == 998


def test_ones_stand_before_tens() -> None:
    for number in range(21, 100):
        if number % 10 > 1:
            assert spelt(number)[1] == f"{spelt(number % 10)[1]}und{spelt(number - number % 10)[1]}"


def test_in_digits() -> None:
    assert digits(42) == ("42", "42")
    assert digits(1250) == ("1,250", "1.250")
