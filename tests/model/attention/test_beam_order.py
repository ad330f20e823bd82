"""Copies of the beams' order from the device."""

from collections.abc import Iterator

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.tiny import SOURCE, build, dictionary, profiled
from torch import Tensor

from realformer_nmt.model.attention.beam_order import OrderReader
from realformer_nmt.model.attention.cache import Decoding


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tensor]]:
    """The tensors that are made lists of, which waits for the device."""
    copies, tolist = [], Tensor.tolist

    def count(tensor: Tensor) -> list:
        copies.append(tensor)
        return tolist(tensor)

    with monkeypatch.context() as patch:
        patch.setattr(Tensor, "tolist", count)
        yield copies


def test_a_step_of_beam_search_copies_its_order_once(copied: list[Tensor]) -> None:
    model = profiled(build())
    orders: list[Tensor] = []
    reorder = model.decoder.reorder_incremental_state_scripting

    def note(state: dict[str, Decoding], order: Tensor) -> None:
        orders.append(order)
        reorder(state, order)

    model.decoder.reorder_incremental_state_scripting = note
    search = SequenceGenerator([model], dictionary(), beam_size=3, min_len=4, max_len_b=6)
    search.generate([model], {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(1).sum(1)}})
    assert len(orders) >= 4
    assert [sum(each is order for each in copied) for order in orders] == [1] * len(orders)


def test_another_order_of_the_same_beams_is_read_again() -> None:
    reader = OrderReader()
    assert [reader.read(torch.tensor(order)) for order in ([0, 1], [1, 0], [1, 1])] == [[0, 1], [1, 0], [1, 1]]
