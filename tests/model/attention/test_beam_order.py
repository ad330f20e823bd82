"""Copies of the beams' order from the device."""

from collections.abc import Iterator

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.tiny import PREVIOUS, SOURCE, build, dictionary, profiled
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


def test_an_order_copied_once_gives_what_copies_of_its_own_give() -> None:
    """The order is that of encoder and decoder, when beams move, and when sentences end."""
    model, steps = profiled(build()), []
    for separate in (False, True):
        state: dict[str, Decoding] = {}
        encoder_out = model.encoder.reorder_encoder_out(model.encoder(SOURCE), torch.tensor([0, 0, 1, 1, 2, 2]))
        tokens = PREVIOUS[:, :1].repeat_interleave(2, 0)
        for move in ([1, 0, 3, 3, 4, 5], [0, 0, 5, 4], [1, 0, 2, 2]):
            model.decoder(tokens, encoder_out, incremental_state=state)
            order = torch.tensor(move)
            model.decoder.reorder_incremental_state_scripting(state, order)
            encoder_out = model.encoder.reorder_encoder_out(encoder_out, order.clone() if separate else order)
            tokens = torch.cat([tokens[order], torch.arange(4, 4 + len(order)).unsqueeze(1)], 1)
        steps.append(model.decoder(tokens, encoder_out, incremental_state=state)[0])
    torch.testing.assert_close(*steps, rtol=0, atol=0)


def test_another_order_of_the_same_beams_is_read_again() -> None:
    reader = OrderReader()
    assert [reader.read(torch.tensor(order)) for order in ([0, 1], [1, 0], [1, 1])] == [[0, 1], [1, 0], [1, 1]]
