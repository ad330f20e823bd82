"""The families that stand for all others: no family keeps or calls anything that none of them does."""

import pytest
from tiny_models.representatives import REPRESENTATIVES, features

from realformer_nmt.model.presets import FAMILIES


@pytest.fixture(scope="module")
def represented() -> set[str]:
    return {feature for family in REPRESENTATIVES for feature in features(FAMILIES[family])}


def test_a_family_has_no_feature_that_no_representative_has(represented: set[str]) -> None:
    """A family with a new one fails here: give it a row of REPRESENTATIVES."""
    unlike = {family: features(options) - represented for family, options in FAMILIES.items()}
    assert {family: missing for family, missing in unlike.items() if missing} == {}
