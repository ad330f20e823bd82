"""Rows of embeddings that follow their pieces into another vocabulary, against rows that were written by hand."""

import torch
from fairseq.data import Dictionary

from realformer_nmt.checkpoints.files.embedding_rows import carry, common


def words(*pieces: str) -> Dictionary:
    dictionary = Dictionary()  # <s>, <pad>, </s>, <unk>: rows 0 to 3
    for piece in pieces:
        dictionary.add_symbol(piece)
    return dictionary


def rows_of(first: float, number: int) -> torch.Tensor:
    """first, first + 1, ... in each of three columns."""
    return torch.arange(first, first + number)[:, None].expand(-1, 3)


BEFORE, NOW = words("a", "b", "c"), words("c", "x", "a")


def test_pieces_that_both_have_are_counted_without_special_ones() -> None:
    common_rows = common(BEFORE, NOW)
    assert (common_rows.subwords, common_rows.common, str(common_rows)) == (3, 2, "2 of 3")
    assert (common_rows.before, common_rows.now) == ([0, 1, 2, 3, 6, 4], [0, 1, 2, 3, 4, 6])
    assert str(common(words("a"), words("b", "c"))) == "0 of 2"


def test_each_side_goes_by_its_own_dictionary_and_all_else_stays() -> None:
    rows = {"source": common(BEFORE, NOW), "target": common(NOW, BEFORE)}
    names = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight")
    weights = {name: rows_of(10.0 * n, 7) for n, name in enumerate(names, 1)} | {"encoder.fc": torch.ones(2)}
    fresh = {name: -rows_of(0.0, 7) for name in names} | {"encoder.fc": torch.zeros(2)}
    actual = {name: weight.tolist() for name, weight in carry(weights, fresh, rows).items()}
    expected = {
        names[0]: [10, 11, 12, 13, 16, -5, 14],  # c, x, a
        names[1]: [20, 21, 22, 23, 26, -5, 24],  # a, b, c
        names[2]: [30, 31, 32, 33, 36, -5, 34],
    }
    assert actual == {**{name: [[row] * 3 for row in rows] for name, rows in expected.items()}, "encoder.fc": [1, 1]}
    assert fresh[names[0]].tolist() == (-rows_of(0.0, 7)).tolist()


def test_a_table_grows_and_shrinks_and_keeps_the_kind_of_the_new_model() -> None:
    name = "decoder.embed_tokens.weight"
    more = words("a", "b", "c", "d", "e")
    for before, now in ((BEFORE, more), (more, BEFORE)):
        fresh = torch.full((len(now), 3), -1.0, dtype=torch.float16)
        table = carry({name: rows_of(0.0, len(before))}, {name: fresh}, {"target": common(before, now)})[name]
        assert (table.shape, table.dtype) == (fresh.shape, torch.float16)
        assert table[:7].tolist() == rows_of(0.0, 7).tolist()
        assert (table[7:] == -1).all()


def test_rows_are_copied_on_the_device_of_the_new_model() -> None:
    name = "encoder.embed_tokens.weight"
    fresh = torch.empty(len(NOW), 3, device="meta")  # as on a GPU, nothing of the CPU's may index it
    table = carry({name: rows_of(0.0, 7)}, {name: fresh}, {"source": common(BEFORE, NOW)})[name]
    assert (table.device, table.shape) == (fresh.device, fresh.shape)
