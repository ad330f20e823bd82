import math
from pathlib import Path

import pytest
import torch
from tiny_models import analysed

from realformer_nmt.analysis.measures import losses


def test_the_loss_is_the_mean_of_every_words(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text)
    batch = analysed.whole(text)
    with torch.no_grad():
        logits = model(batch.source, None, batch.previous)[0]
    bits = [
        -float(logits[row, place].log_softmax(-1)[word]) / math.log(2)
        for row, sentence in enumerate(batch.target.tolist())
        for place, word in enumerate(sentence)
        if word != text.pad
    ]
    assert len(bits) == losses.count_targets(text)
    assert losses.loss(model, text) == pytest.approx(sum(bits) / len(bits))
    monkeypatch.setattr("realformer_nmt.analysis.text.TOKENS", 40)
    assert len(list(text.batches())) > 3
    assert losses.loss(model, text) == pytest.approx(sum(bits) / len(bits), rel=1e-5)
