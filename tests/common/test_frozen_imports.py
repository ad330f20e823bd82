"""What the first import leaves for Python's garbage collection."""

import gc
from collections.abc import Iterator

import pytest

from realformer_nmt.common.frozen_imports import frozen


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def test_collection_pauses_in_the_first_import_alone() -> None:
    before = gc.get_freeze_count()
    with frozen("gc"):  # which is imported
        assert gc.isenabled()
    assert gc.get_freeze_count() == before
    with frozen("no_such_module"):
        assert not gc.isenabled()
        brought: list[list[int]] = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(brought)


def test_an_import_that_fails_leaves_collection_on() -> None:
    with pytest.raises(ImportError), frozen("no_such_module"):
        raise ImportError("no_such_module")
    assert gc.isenabled()


def test_collection_that_a_program_has_turned_off_stays_off() -> None:
    gc.disable()
    with frozen("no_such_module"):
        pass
    assert not gc.isenabled()
