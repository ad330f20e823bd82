"""On a GPU a decoding step of a plain family is one kernel of torch's for each attention, as its training step is."""

import pytest
from gpu import count_decoding
from workloads import STOCK, Shape

SMALL = Shape(2, 2, width=64, vocabulary=1000)


@pytest.mark.parametrize("family", ["post_ln", "pre_ln"])
def test_a_decoding_step_starts_no_more_than_stocks(family: str) -> None:
    assert count_decoding(family, SMALL)["launches"] <= count_decoding(STOCK, SMALL)["launches"]
