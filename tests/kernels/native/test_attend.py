"""A decoding step's attention in C, against its formula in double precision, beam by beam."""

import pytest
import torch
from torch import Tensor

from realformer_nmt.kernels.native.attend import attend
from realformer_nmt.kernels.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no kernels were built, or the processor has no avx512_vnni")
SENTENCES, HEADS, ROOM = 3, 2, 40


def formula(query: Tensor, key: Tensor, value: Tensor, hidden: Tensor, before: Tensor | float, divisor: int) -> Tensor:
    """Return the attention of one query to the positions that it sees, S x D."""
    scores = key @ query / len(query) ** 0.5 + before
    return (scores / divisor).masked_fill(hidden, -torch.inf).softmax(0) @ value


def randoms(*sizes: tuple[int, ...]) -> list[Tensor]:
    chance = torch.Generator().manual_seed(5)
    return [torch.randn(*size, generator=chance) for size in sizes]


@pytest.mark.parametrize("width", [64, 80, 5])
@pytest.mark.parametrize("positions", [1, 15, 37])
@pytest.mark.parametrize("divisor", [None, 1, 3])
def test_a_source_is_looked_at(positions: int, width: int, divisor: int | None) -> None:
    sizes = (SENTENCES, HEADS, 4, width), (SENTENCES, positions, HEADS, width), (SENTENCES, HEADS, 4, positions)
    query, key, value, before = randoms(sizes[0], sizes[1], sizes[1], sizes[2])
    key, value = key.transpose(1, 2), value.transpose(1, 2)  # as a projection has them
    hidden = torch.arange(positions) >= torch.tensor([positions, 1, 1 + positions // 2])[:, None, None, None]
    carried = before if divisor else None
    heads, total = attend(query, (key, value), (), None, hidden, carried, divisor)
    for sentence, head, row in torch.cartesian_prod(*map(torch.arange, (SENTENCES, HEADS, 4))).tolist():
        parts = (part[sentence, head].double() for part in (key, value))
        added = before[sentence, head, row].double() if divisor else 0.0
        one = query[sentence, head, row].double()
        expected = formula(one, *parts, hidden[sentence, 0, 0], added, divisor or 1)
        torch.testing.assert_close(
            heads.view(SENTENCES, 4, HEADS, width)[sentence, row, head].double(), expected, rtol=1e-5, atol=2e-6
        )
    assert (total is None) == (divisor is None)
    if total is not None:
        torch.testing.assert_close(total, query @ key.transpose(2, 3) / width**0.5 + before)


def history(beams: int, positions: int, width: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Rooms of keys and values, what comes into them, and who wrote what each beam sees."""
    rooms = randoms(*[(SENTENCES, HEADS, ROOM * beams, width)] * 2)
    last = [part.transpose(1, 2) for part in randoms(*[(SENTENCES, beams, HEADS, width)] * 2)]
    origin = torch.randint(beams, (SENTENCES, beams, positions), generator=torch.Generator().manual_seed(1))
    origin[:, :, -1] = torch.arange(beams)
    return rooms, last, origin


@pytest.mark.parametrize("positions", [1, 20])
@pytest.mark.parametrize("beams", [2, 4])
def test_each_beam_sees_what_it_has_written(beams: int, positions: int) -> None:
    rooms, last, origin = history(beams, positions, 64)
    (query,) = randoms((SENTENCES, HEADS, beams, 64))
    seen = [room[:, :, : beams * positions] for room in rooms]
    heads, _ = attend(query, seen, last, origin, None, None, None)
    for sentence, head, beam in torch.cartesian_prod(*map(torch.arange, (SENTENCES, HEADS, beams))).tolist():
        places = torch.arange(positions) * beams + origin[sentence, beam]
        key, value = (part[sentence, head, places].double() for part in seen)
        assert torch.equal(value[-1], last[1][sentence, head, beam].double())  # it was written
        expected = formula(query[sentence, head, beam].double(), key, value, torch.tensor(False), 0.0, 1)
        torch.testing.assert_close(
            heads.view(SENTENCES, beams, HEADS, 64)[sentence, beam, head].double(), expected, rtol=1e-5, atol=2e-6
        )


def test_a_beam_that_overflows_is_lost_alone() -> None:
    rooms, last, origin = history(3, 4, 16)
    origin[:] = torch.arange(3)[:, None]  # each goes on alone
    (query,) = randoms((SENTENCES, HEADS, 3, 16))
    seen = [room[:, :, :12] for room in rooms]
    before, _ = attend(query, seen, last, origin, None, None, None)
    for part in last:
        part[:, :, 1] = torch.nan
    after, _ = attend(query, seen, last, origin, None, None, None)
    assert after[:, 1].isnan().all()
    assert torch.equal(after[:, [0, 2]], before[:, [0, 2]])


def test_what_is_of_other_sentences_is_refused() -> None:
    """It would be read beyond its end."""
    query, value = torch.zeros(3, HEADS, 1, 8), torch.zeros(2, HEADS, 5, 8)
    with pytest.raises(ValueError, match=r"^attend: key must be 3 x 2 x 5 x 8, not 2 x 2 x 5 x 8$"):
        attend(query, (value, value), (), None, None, None, None)
    whole = torch.zeros(3, HEADS, 5, 8)
    with pytest.raises(ValueError, match=r"^attend: before must be 3 x 2 x 1 x 5, not 3 x 2 x 1 x 4$"):
        attend(query, (whole, whole), (), None, None, torch.zeros(3, HEADS, 1, 4), 1)


def test_a_beam_that_there_is_not_is_refused() -> None:
    rooms, last, origin = history(3, 4, 16)
    (query,) = randoms((SENTENCES, HEADS, 3, 16))
    origin[1, 2, 0] = 3
    with pytest.raises(ValueError, match=r"^attend: origin must hold numbers from 0 to 2 alone$"):
        attend(query, [room[:, :, :12] for room in rooms], last, origin, None, None, None)


def test_numbers_that_are_not_in_memory_are_refused() -> None:
    query, whole = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 5, 8)
    freed = query.clone()
    freed.untyped_storage().resize_(0)
    for odd in (freed, query.half(), query.to("meta"), query.as_subclass(type("Odd", (Tensor,), {}))):
        with pytest.raises(TypeError, match=r"^attend: query must be a "):
            attend(odd, (whole, whole), (), None, None, None, None)
