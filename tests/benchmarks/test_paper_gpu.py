"""On a GPU a decoding step of a plain family is one kernel of torch's for each attention, as its training step is."""

import multiprocessing

import pytest
from gpu import count_decoding
from workloads import STOCK, Shape

SMALL = Shape(2, 2, width=64, vocabulary=1000)


def launches(model: str) -> int:
    number: int = count_decoding(model, SMALL)["launches"]
    return number


@pytest.mark.parametrize("family", ["post_ln", pytest.param("pre_ln", marks=pytest.mark.product)])
def test_a_decoding_step_starts_no_more_than_stocks(family: str) -> None:
    # the device without values is registered for good, and other tests pin memory
    with multiprocessing.get_context("spawn").Pool(1) as process:
        actual, limit = process.map(launches, [family, STOCK])
    assert actual <= limit
