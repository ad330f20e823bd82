"""A server of one archive, and no proxy before it; and forks of fairseq's commands."""

from collections.abc import Iterator

import pytest
from programs import commands
from texts.archive_server import ArchiveServer
from texts.single_archive import CONTENT, Waits


@pytest.fixture(scope="module")
def forks() -> Iterator[None]:
    """Make each command that ours start in this process a fork."""
    with commands.starting_forks():
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_proxy() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "127.0.0.1")
        yield


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArchiveServer]:
    site = tmp_path_factory.mktemp("site")
    for name in ("a.tgz", "mirror.tgz"):
        (site / name).write_bytes(CONTENT)
    with ArchiveServer(site) as server:
        yield server


@pytest.fixture
def server(shared_server: ArchiveServer) -> ArchiveServer:
    shared_server.faults.clear()
    shared_server.requests.clear()
    return shared_server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    waits = Waits(monkeypatch)
    waits.plan(1, 2, 4)
    return waits
