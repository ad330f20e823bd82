"""The options of decoding, as one who checks types sees them."""

from dataclasses import fields
from typing import get_type_hints

from realformer_nmt.serving.decoding import SearchKeywords, SearchOptions


def test_the_options_have_the_names_and_types_of_what_they_become() -> None:
    assert get_type_hints(SearchKeywords) == {field.name: field.type for field in fields(SearchOptions)}
