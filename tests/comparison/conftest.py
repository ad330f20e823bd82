"""Fixture of all tests of one comparison."""

from collections.abc import Iterator

import pytest
from filelock import FileLock


@pytest.fixture(autouse=True)
def alone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Some tests edit, and put back, the comparison that others read, in whichever process."""
    if "root" not in request.fixturenames:
        yield
        return
    with FileLock(f"{request.getfixturevalue('root')}.in_use"):
        yield
