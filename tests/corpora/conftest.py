"""A server of one archive, and no proxy before it; and forks of fairseq's commands."""

from collections.abc import Iterator

import pytest
from programs import commands
from texts.archive_fixtures import _no_proxy as _no_proxy
from texts.archive_fixtures import server as server
from texts.archive_fixtures import shared_server as shared_server
from texts.archive_fixtures import waits as waits


@pytest.fixture(scope="module")
def forks() -> Iterator[None]:
    """Make each command that ours start in this process a fork."""
    with commands.starting_forks():
        yield
