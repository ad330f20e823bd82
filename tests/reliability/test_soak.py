"""The soak of `make reliability` would see a leak."""

import pytest

from reliability import soak, trainings

STILL = [(update, 400.0, 12) for update in range(500, 2000, 10)]


def test_a_leak_is_seen() -> None:
    assert soak.judged(STILL, 2000, slack=1.0)["MiB at the end"] == 400.0
    with pytest.raises(trainings.FailedError, match=r"memory grew from 400\.\d to 401\.\d MiB"):
        soak.judged([(update, 400 + update / 1000 - 0.5, files) for update, _, files in STILL], 2000, slack=1.0)
    with pytest.raises(trainings.FailedError, match="open files grew from 12 to 13"):
        soak.judged([*STILL, (2000, 400.0, 13)], 2000, slack=1.0)
