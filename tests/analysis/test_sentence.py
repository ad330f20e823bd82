"""One sentence: labels, shapes, and probabilities against what the model itself gives back."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models import analysed

from realformer_nmt.analysis import sentence
from realformer_nmt.analysis.hooks import CROSS
from realformer_nmt.common.errors import UserError


def test_every_head_of_every_chain_with_its_words(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text, decoder_layers=3, max_target_positions=9)
    beam_sizes: list[int] = []
    generate = SequenceGenerator.generate
    monkeypatch.setattr(
        SequenceGenerator, "generate", lambda self, *args: beam_sizes.append(self.beam_size) or generate(self, *args)
    )
    study = sentence.study(model, text, "a c b")
    assert study.source == ["a", "c", "b", "</s>"]
    assert study.target[-1] == "</s>"
    assert beam_sizes == [4]
    read = ["</s>", *study.target[:-1]]
    shapes = {chain: (each.queries, each.keys, len(each.layers)) for chain, each in study.chains.items()}
    assert shapes == {
        "encoder": (study.source, study.source, 2),
        "decoder": (read, read, 3),
        CROSS: (study.target, study.source, 3),
    }
    words = text.dictionaries[1]
    tokens, source = ([words.index(word) for word in each] for each in (read, study.source))
    with torch.no_grad():
        _, extra = model(torch.tensor([source]), None, torch.tensor([tokens]))
    assert torch.allclose(study.chains[CROSS].layers[-1].mean(0), extra["attn"][0][0], atol=1e-6)
    for each in study.chains["decoder"].layers:
        assert torch.allclose(each.sum(-1), torch.ones(each.shape[:-1]))
        assert float(each.triu(1).abs().max()) == 0  # nobody looks ahead


def test_subwords_are_the_words_or_cut_as_for_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sentence.subwords("  a  b ", tmp_path / "data-bin") == "a b"
    (tmp_path / "prepare.json").touch()
    prepared = SimpleNamespace(pieces=lambda raw: [raw.decode().removesuffix("\n").replace(" ", "+")])
    monkeypatch.setattr(sentence.text_pipeline, "read", lambda _folder: prepared)
    assert sentence.subwords("a b", tmp_path / "data-bin") == "a+b"
    (tmp_path / "data-bin" / "inner").mkdir(parents=True)
    (tmp_path / "elsewhere" / "bin").mkdir(parents=True)
    (tmp_path / "elsewhere" / "link").symlink_to(tmp_path / "data-bin")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "bin")
    monkeypatch.chdir(tmp_path / "data-bin")
    for data in (".", "inner/..", "../elsewhere/link", "../link"):
        assert sentence.subwords("a b", Path(data)) == "a+b"
    for data in ("..", "../elsewhere/bin"):
        assert sentence.subwords("a b", Path(data)) == "a b"


def test_what_cannot_be_read_is_refused(toy_corpus: Path) -> None:
    with pytest.raises(UserError, match="--sentence is empty"):
        sentence.subwords("  ", toy_corpus)
    text = analysed.some(toy_corpus)
    with pytest.raises(UserError, match="has 4 tokens, and the model has room for 3: give a shorter one"):
        sentence.study(analysed.model(text, max_source_positions=3), text, "a b c")
