"""Every option of `realformer-nmt` that takes a number has a range, and its default is in it."""

from dataclasses import Field, fields
from typing import Any, get_type_hints

import pytest

from realformer_nmt import subcommands
from realformer_nmt.common.requests.option import spec_of
from realformer_nmt.common.requests.request_argv import FieldType


def number_fields(row: subcommands.Subcommand) -> list["Field[Any]"]:
    request = subcommands.request_of(row)
    hints = get_type_hints(request)
    return [each for each in fields(request) if FieldType.of(hints[each.name]).type in (int, float)]


@pytest.mark.parametrize("row", subcommands.SUBCOMMANDS, ids=lambda row: row.name)
def test_every_number_has_a_range_that_holds_its_default(row: subcommands.Subcommand) -> None:
    """Give a new option without a range one of common/numbers.py."""
    for each in number_fields(row):
        allowed = spec_of(each).range
        assert allowed is not None or each.name == "no_answer", each.name
        if allowed is not None and isinstance(each.default, int | float):
            allowed.check(each.name, each.default)
