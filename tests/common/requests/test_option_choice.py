"""A suggestion in place of a long list."""

import pytest

from realformer_nmt.common.requests.option_choice import not_allowed

CORPORA = ["iwslt14_de_en", "multi30k_en_de", "multi30k_en_fr"]
MANY = [f"name_{number}" for number in range(21)]


@pytest.mark.parametrize(
    ("value", "allowed", "message"),
    [
        ("multi30k", CORPORA, f"is not one of {', '.join(CORPORA)}; did you mean multi30k_en_de?"),
        ("iwslt", CORPORA, f"is not one of {', '.join(CORPORA)}; did you mean iwslt14_de_en?"),
        ("name-7", MANY, "is not one of 21 names; did you mean name_7?"),
        ("soup", MANY, f"is not one of {', '.join(MANY)}"),
        ("", CORPORA, f"is not one of {', '.join(CORPORA)}"),
    ],
)
def test_the_closest_name_is_suggested(value: str, allowed: list[str], message: str) -> None:
    assert not_allowed("--corpus", value, allowed) == f"--corpus {value} {message}"
