"""Sentences as fairseq's own builder writes them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data import indexed_dataset

from realformer_nmt.data_bins import sentences
from realformer_nmt.data_bins.index import KINDS, check_sound
from realformer_nmt.data_bins.sentences import NumberedText


def blocks(chance: np.random.Generator, sizes: list[int], words: int) -> Iterator[NumberedText]:
    for size in sizes:
        lengths = chance.integers(1, 9, size)
        yield NumberedText(lengths, chance.integers(0, words, lengths.sum()))


@pytest.mark.parametrize("words", [100, 65_499, 65_500, 1_000_000])
@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_files_are_those_of_fairseqs_builder(
    words: int, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentences, "BLOCK", at_once)
    written = list(blocks(np.random.default_rng(words), [3, 1, 9], words))
    builder = indexed_dataset.make_builder(str(tmp_path / "theirs.bin"), "mmap", vocab_size=words)
    for block in written:
        for sentence in np.split(block.words, block.lengths.cumsum()[:-1]):
            builder.add_item(torch.tensor(sentence))
    builder.finalize(str(tmp_path / "theirs.idx"))
    assert sentences.write(tmp_path / "ours", words, iter(written)) == 13
    for ending in ("bin", "idx"):
        assert (tmp_path / f"ours.{ending}").read_bytes() == (tmp_path / f"theirs.{ending}").read_bytes()
    assert check_sound(tmp_path / "ours.idx", words, "dictionary") == 13


def test_the_types_are_all_whole_numbers_of_fairseqs() -> None:
    types = {code: np.dtype(kind) for code, kind in indexed_dataset._code_to_dtype.items()}
    whole = {code: kind for code, kind in types.items() if np.issubdtype(kind, np.integer)}
    assert {code: np.dtype(kind) for code, kind in KINDS.items()} == whole


def test_a_line_is_its_words_and_the_end_also_where_it_has_none_or_no_line_feed() -> None:
    lengths, words = sentences.numbered("b a b\n\n </s>\u2029c\rz\na".encode(), "a\nb\nc")
    assert lengths.tolist() == [4, 1, 4, 2]
    assert words.tolist() == [5, 4, 5, 2, 2, 2, 6, 3, 2, 4, 2]
