"""Batches against the lines of the corpus that was binarised."""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tiny_models import analysed
from torch import Tensor

from realformer_nmt.analysis import text
from realformer_nmt.common.errors import UserError


def lines(batch: text.Batch, tokens: Tensor, words: text.Dictionary) -> Iterator[tuple[int, str]]:
    for place, row in zip(batch.indices, tokens, strict=True):
        numbers = [number for number in row.tolist() if number != words.pad()]
        assert numbers == row.tolist()[: len(numbers)]  # padding is on the right
        yield place, " ".join(words[number] for number in numbers)


def test_every_sentence_comes_once(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "TOKENS", 100)
    sentences = text.read(toy_corpus, "valid", 1000)
    batches = list(sentences.batches())
    assert len(batches) > 10
    assert all(batch.source.numel() <= 100 and batch.target.numel() <= 100 for batch in batches)
    expected = {side: (toy_corpus.parent / f"valid.{side}").read_text().splitlines() for side in ("src", "tgt")}
    for name, words, side in (("source", 0, "src"), ("target", 1, "tgt"), ("previous", 1, "tgt")):
        read = dict(
            pair for batch in batches for pair in lines(batch, getattr(batch, name), sentences.dictionaries[words])
        )
        form = "</s> {}" if name == "previous" else "{} </s>"
        assert [read[place] for place in range(len(read))] == [form.format(line) for line in expected[side]]


def test_a_sample_is_spread_over_the_text(toy_corpus: Path) -> None:
    indices = text.read(toy_corpus, "valid", 3).indices
    assert list(indices) == [0, 101, 202]


def test_sentences_without_room_are_left_out(toy_corpus: Path) -> None:
    everything = text.read(toy_corpus, "valid", 1000)
    sources = (toy_corpus.parent / "valid.src").read_text().splitlines()
    fitting = [place for place, line in enumerate(sources) if len(line.split()) + 1 <= 5]
    assert list(everything.within((5, 100)).indices) == fitting
    with pytest.raises(UserError, match="every sentence is longer than"):
        everything.within((2, 2))


def test_texts_of_different_lengths_are_refused(toy_corpus: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(toy_corpus, tmp_path / "data"))
    for ending in ("bin", "idx"):
        shutil.copy(data / f"train.src-tgt.tgt.{ending}", data / f"valid.src-tgt.tgt.{ending}")
    with pytest.raises(UserError, match=r"data: valid has \d+ sentences in src and [\d,]+ in tgt"):
        text.read(data, "valid", 10)


def test_the_loss_is_the_mean_of_every_words(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = analysed.some(toy_corpus)
    model = analysed.model(sample)
    batch = analysed.whole(sample)
    with torch.no_grad():
        logits = model(batch.source, None, batch.previous)[0]
    bits = [
        -float(logits[row, place].log_softmax(-1)[word]) / math.log(2)
        for row, sentence in enumerate(batch.target.tolist())
        for place, word in enumerate(sentence)
        if word != sample.pad
    ]
    assert len(bits) == text.count_targets(sample)
    assert text.loss(model, sample) == pytest.approx(sum(bits) / len(bits))
    monkeypatch.setattr(text, "TOKENS", 40)
    assert len(list(sample.batches())) > 3
    assert text.loss(model, sample) == pytest.approx(sum(bits) / len(bits), rel=1e-5)
