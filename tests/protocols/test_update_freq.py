"""The tokens of a step on any number of GPUs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.update_freq import update_freq

COUNTS = st.integers(1, 40)


@given(tokens=st.integers(1, 50_000), gpus=COUNTS, max_tokens=st.integers(1, 9000))
def test_what_does_not_divide_is_refused_and_what_is_named_does(tokens: int, gpus: int, max_tokens: int) -> None:
    if tokens % (gpus * max_tokens) == 0:
        return
    with pytest.raises(UserError) as refused:
        update_freq(tokens, gpus, max_tokens)
    message = str(refused.value)
    for named in map(int, re.findall(r"--max-tokens (\d+)", message)):
        assert tokens % (gpus * named) == 0
    for named in map(int, re.findall(r"--gpus (\d+)", message)):
        assert tokens % (named * max_tokens) == 0
    (step,) = re.findall(r"--tokens-a-step, such as (\d+)", message)
    assert int(step) % (gpus * max_tokens) == 0


def test_the_nearest_are_named() -> None:
    """Divisors of 32,768 are powers of two: 3 GPUs have none, next to 3 are 2 and 4, next to 3,000 2,048 and 4,096."""
    with pytest.raises(UserError, match=r"use --gpus 2 or --gpus 4, or another --tokens-a-step, such as 24576$"):
        update_freq(32_768, 3, 8192)
    with pytest.raises(UserError, match="use --max-tokens 2048 or --max-tokens 4096, or"):
        update_freq(32_768, 4, 3000)
