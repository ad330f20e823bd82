"""Output of fairseq-generate is read back."""

from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.translating import generation


def test_a_hypothesis_too_few_or_too_many_is_an_error(tmp_path: Path) -> None:
    answer = tmp_path / "generate-test.txt"
    answer.write_text(
        "S-2\tc\u2028c\nH-2\t-0.1\tC\u2028\x85C\nS-0\ta\nH-0\t-0.5\t\nD-0\t-0.5\t\nS-1\tb\nH-1\t-1\tB B\n"
    )
    assert generation.parse([answer], 3) == generation.Generated(
        ["a", "b", "c\u2028c"], None, ["", "B B", "C\u2028\x85C"]
    )
    with pytest.raises(UserError, match="3 hypotheses for 4 sources; the first without one is number 4"):
        generation.parse([answer], 4)
    with pytest.raises(UserError, match="3 hypotheses for 2 sources"):
        generation.parse([answer], 2)
