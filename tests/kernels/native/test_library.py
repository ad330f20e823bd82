"""The kernels are used where they can be, and left alone where they are hidden, missing or of no use."""

import shutil
from types import SimpleNamespace

import pytest
import torch

from realformer_nmt.kernels.native import library
from realformer_nmt.kernels.native.library import in_large_pages, instructions


@pytest.mark.parametrize(
    ("module", "hidden", "says"),
    [
        (SimpleNamespace(able=True), "", "built"),
        (SimpleNamespace(able=True), "0", "hidden by REALFORMER_NMT_NATIVE=0"),
        (SimpleNamespace(able=False), "", "built, unused: this processor has no avx512_vnni"),
        (None, "", "not built from these sources, so torch's operations are used; reinstall with a C compiler"),
    ],
)
def test_it_is_used_where_it_can_be(module: object, hidden: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "built", lambda: module)
    monkeypatch.setenv(library.HIDDEN, hidden)
    assert library.state() == says
    assert (library.library() is not None) == (says == "built")


def test_where_they_can_be_built_they_are() -> None:
    """The other tests of kernels are left out where there are none."""
    could = shutil.which("cc") is not None and "avx512_vnni" in instructions()
    assert library.library() is not None or not could, "run `make install`, and read what pip says of the C compiler"


@pytest.mark.skipif(library.library() is None, reason="no kernels were built, or the processor has no avx512_vnni")
def test_where_the_processor_has_amx_it_is_used() -> None:
    assert library.library().tiles == ({"amx_tile", "amx_int8", "amx_bf16"} <= instructions())


def test_a_module_of_older_sources_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.importlib, "import_module", lambda _: SimpleNamespace(able=True, version=0))
    assert library.built.__wrapped__() is None


@pytest.mark.skipif(library.library() is None, reason="no kernels were built, or the processor has no avx512_vnni")
@pytest.mark.parametrize("numbers", [0, 1, 1023, 10**6])
def test_large_pages_change_no_number(numbers: int) -> None:
    room = torch.arange(float(numbers))
    assert torch.equal(in_large_pages(room), torch.arange(float(numbers)))
