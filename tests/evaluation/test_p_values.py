"""Holm's correction by hand, and how p-values are shown."""

import pytest

from realformer_nmt.evaluation.p_values import holm, is_bound, shown


def test_holms_correction_by_hand() -> None:
    """Rising values .005 .01 .03 .04 are multiplied by 4 3 2 1 and never fall: .02 .03 .06 .06 (not .04)."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5, 0.5]) == pytest.approx([1.0, 1.0, 1.0])
    assert holm([0.04]) == [0.04]


def test_the_smallest_p_is_shown_as_a_bound_and_none_as_0() -> None:
    assert (shown(1 / 10_001, True), shown(1 / 101, True), shown(0.0315, False)) == ("< 0.0001", "< 0.0100", "0.0315")
    assert (shown(2 / 100_001, False), shown(0.6e-4, False)) == ("< 0.0001", "0.0001")


def test_the_smallest_p_of_so_many_samples_is_a_bound() -> None:
    """It is (0 + 1) / (n + 1), as sacreBLEU counts."""
    assert is_bound(1 / 1000, 999)
    assert not is_bound(2 / 1000, 999)
