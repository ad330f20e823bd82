"""Dictionaries against fairseq's own class."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fairseq.data import Dictionary

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import vocabulary

WORDS = ["<s>", "</s>", "a", "B", "b", "\u2581", "\U0001f600", "\ufffd", "madeupword0001", "<unk>", "0"]


@pytest.mark.parametrize("number", range(12))
def test_of_a_text_as_fairseq_makes_it(number: int, tmp_path: Path) -> None:
    chance = np.random.default_rng(number)
    counts = Counter(chance.choice(WORDS[:number], 3 * number).tolist() if number else [])
    dictionary = Dictionary()
    for word, count in counts.items():
        dictionary.add_symbol(word, count)
    dictionary.finalize()
    dictionary.save(str(tmp_path / "theirs"))
    vocabulary.write(vocabulary.by_frequency(counts), tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert (len(vocabulary.SYMBOLS) + len(vocabulary.by_frequency(counts))) % 8 == 0


def test_numbers_and_counts_are_those_that_fairseq_reads(tmp_path: Path) -> None:
    file = tmp_path / "dict.txt"
    file.write_text("b 3\n\u2581c\u00e9 007 \n#fairseq 1\n", "utf-8")
    dictionary, counts = Dictionary.load(str(file)), vocabulary.read(file)
    assert [*vocabulary.SYMBOLS, *counts] == dictionary.symbols
    assert list(counts.values()) == dictionary.count[dictionary.nspecial :]
    assert (dictionary.eos(), dictionary.unk()) == (vocabulary.END, vocabulary.UNKNOWN)


@pytest.mark.parametrize("line", ["word", "word x", "7", "", "</s> 4", "a 1", "a 2 #fairseq:overwrite"])
def test_another_line_is_refused_by_its_number(line: str, tmp_path: Path) -> None:
    (tmp_path / "dict.txt").write_text(f"a 1\n{line}\n", "utf-8")
    with pytest.raises(UserError, match=r"dict\.txt, line 2: "):
        vocabulary.read(tmp_path / "dict.txt")
