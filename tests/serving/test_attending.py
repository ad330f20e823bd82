"""A model and the one that gives attention beside it: the same weights, once in memory."""

from pathlib import Path

import pytest

import realformer_nmt
from realformer_nmt.kernels.precision import supported
from realformer_nmt.serving.decoding import SearchOptions


@pytest.mark.parametrize("precision", supported())
def test_alignments_take_no_memory_of_their_own(precision: str, run: Path, toy_corpus: Path) -> None:
    model = realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True)
    (plain,), (aligning,) = (
        model.loaded(SearchOptions(precision=precision, alignments=alignments)).models for alignments in (False, True)
    )
    assert plain is not aligning
    assert [id(tensor) for tensor in plain.parameters()] == [id(tensor) for tensor in aligning.parameters()]
    assert [id(tensor) for tensor in plain.buffers()] == [id(tensor) for tensor in aligning.buffers()]
    assert (plain.decoder.need_attn, aligning.decoder.need_attn) == (None, True)
