"""The pairwise cover: every pair of values is in it, but those that the package refuses."""

import pytest
from tiny_models.combinations import COLUMNS, COVER, all_pairs, pairs
from tiny_models.tiny import SIZE

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.part_names import FAMILY_OPTIONS


def test_every_pair_of_parts_is_covered_or_refused() -> None:
    missing = {*all_pairs(COLUMNS)} - {pair for row in COVER for pair in pairs(row)}
    assert missing
    for pair in missing:
        options = {FAMILY_OPTIONS[column]: value for column, value in pair}
        with pytest.raises(OptionError, match=r"has no shortcuts|needs scores of queries and keys alone"):
            validate(TranslationConfig(**SIZE, **options))


def test_a_cover_is_a_fraction_of_the_product_and_no_row_is_there_twice() -> None:
    """No cover is smaller than the product of the two longest columns."""
    longest, second = sorted(map(len, COLUMNS))[:-3:-1]
    assert longest * second - 10 <= len(COVER) == len({*COVER}) <= 1.1 * longest * second
