"""Both kinds of subwords: the round trip, the same bytes every time, and subword-nmt's own commands."""

import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.subwords import moses_bpe, sentencepiece_subwords
from realformer_nmt.corpora.subwords.subword_methods import CODES, DICTIONARY, LEARNT, METHODS, MODEL
from realformer_nmt.corpora.subwords.subwords import TrainingTexts, encoder, learn_model, renew
from realformer_nmt.data_bins.vocabulary import SYMBOLS

LINES = st.lists(st.text(st.characters(exclude_characters="\u2581", exclude_categories=["Cs"])), min_size=1, max_size=5)
SIZE = 400


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> TrainingTexts:
    folder, chance = tmp_path_factory.mktemp("texts"), np.random.default_rng(3)
    words = ["".join(chance.choice(list("abcdefgh\u00e9\u00df"), chance.integers(1, 7))) for _ in range(150)]
    for language in "en", "de":
        lines = (" ".join(chance.choice(words, chance.integers(1, 10))) + " ." for _ in range(500))
        (folder / f"train.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return TrainingTexts(folder / "train.en", folder / "train.de", 500)


@pytest.fixture(scope="module")
def models(texts: TrainingTexts, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {method: tmp_path_factory.mktemp(method) for method in LEARNT}
    for method, folder in folders.items():
        learn_model(method, texts, folder, SIZE, 1)
    return folders


@pytest.mark.parametrize("method", LEARNT)
def test_learning_again_elsewhere_gives_the_same_bytes(
    texts: TrainingTexts, models: dict[str, Path], tmp_path: Path, method: str
) -> None:
    learn_model(method, texts, tmp_path, SIZE, 1)
    for file in METHODS[method].files:
        assert (tmp_path / file).read_bytes() == (models[method] / file).read_bytes()


@pytest.mark.parametrize(("method", "size"), [("sentencepiece", 300), ("moses_bpe", 50)])
def test_a_model_in_the_place_of_an_earlier_one_is_the_one_that_encodes(
    texts: TrainingTexts, models: dict[str, Path], tmp_path: Path, method: str, size: int
) -> None:
    place, elsewhere = tmp_path / "subwords", tmp_path / "elsewhere"
    lines = texts.source.read_text("utf-8").split("\n")[:-1]
    shutil.copytree(models[method], place)
    before = encoder(METHODS[method], place)(lines)
    shutil.rmtree(place)
    place.mkdir()
    learn_model(method, texts, place, size, 1)
    shutil.copytree(place, elsewhere)
    assert encoder(METHODS[method], place)(lines) == before
    renew(METHODS[method], place)
    encoded = encoder(METHODS[method], place)(lines)
    assert encoded == encoder(METHODS[method], elsewhere)(lines) != before


@given(lines=LINES)
def test_sentencepiece_gives_back_any_text(models: dict[str, Path], lines: list[str]) -> None:
    clean = [" ".join(line.split()) for line in lines]
    encoded = encoder(METHODS["sentencepiece"], models["sentencepiece"])(clean)
    symbols = {line.rsplit(" ", 1)[0] for line in (models["sentencepiece"] / DICTIONARY).read_text("utf-8").split("\n")}
    processor = SentencePieceProcessor(model_file=str(models["sentencepiece"] / MODEL))
    for line, pieces in zip(clean, encoded, strict=True):
        assert pieces.split() == [piece for piece in pieces.split(" ") if piece]  # fairseq splits as we joined
        assert symbols.issuperset(pieces.split())
        assert pieces == " ".join(processor.encode(line, out_type=str))
        assert processor.decode(pieces.split()) == line


def test_a_byte_that_ends_a_line_is_a_space_in_a_translation(models: dict[str, Path]) -> None:
    """A model may write any subword, and the vocabulary has all bytes."""
    text = sentencepiece_subwords.detokenise(["<0x61> <0x0A> <0x62>", "<0x63>"], models["sentencepiece"], "de").raw
    assert text == ["a b", "c"]


@pytest.mark.parametrize(
    ("option", "wordwise"),
    [
        ({}, True),
        ({"normalization_rule_name": "nfkc"}, False),
        ({"normalization_rule_name": "identity", "split_by_whitespace": False}, False),
        ({"normalization_rule_name": "identity", "treat_whitespace_as_suffix": True}, False),
    ],
)
def test_models_from_elsewhere_that_join_or_change_words_get_whole_lines(
    texts: TrainingTexts, models: dict[str, Path], tmp_path: Path, option: dict[str, object], wordwise: bool
) -> None:
    model = (models["sentencepiece"] / MODEL).read_bytes()
    if option:
        trained = io.BytesIO()
        lines = ["ab cd " * 3] * 9 + texts.source.read_text("utf-8").split("\n")
        options = {"vocab_size": 350, "model_type": "bpe", "byte_fallback": True, "minloglevel": 2, **option}
        SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=trained, **options)
        model = trained.getvalue()
    (tmp_path / MODEL).write_bytes(model)
    processor = SentencePieceProcessor(model_proto=model)
    assert sentencepiece_subwords.is_wordwise(processor) == wordwise
    lines = ["ab cd ab cd", "\ufb01 ab \uff22", "x"]
    expected = [" ".join(processor.encode(line, out_type=str)) for line in lines]
    assert encoder(METHODS["sentencepiece"], tmp_path)(lines) == expected


def test_the_dictionary_fills_fairseqs_to_the_size_asked_for(models: dict[str, Path]) -> None:
    lines = (models["sentencepiece"] / DICTIONARY).read_text("utf-8").split("\n")[:-1]
    pieces = [line.removesuffix(" 1") for line in lines]
    assert len(set(pieces)) == len(pieces) == SIZE - len(SYMBOLS)
    assert not set(pieces) & set(SYMBOLS)
    assert all(piece.split() == [piece] for piece in pieces)


@pytest.mark.parametrize("extra", [True, False])
def test_moses_bpe_is_that_of_subword_nmt(
    texts: TrainingTexts, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch, extra: bool
) -> None:
    lines = [line for path in texts[:2] for line in path.read_text("utf-8").split("\n")[:-1]]
    codes = io.StringIO()
    learn_bpe(io.StringIO("".join(f"{line}\n" for line in lines)), codes, SIZE)
    assert (models["moses_bpe"] / CODES).read_text("utf-8") == codes.getvalue()
    bpe = BPE(codes)
    seen = [*lines[:200], "unseen w\u00f6rds , &amp; a", "", "x"]
    monkeypatch.setattr(moses_bpe, "find_spec", {"tokenizers": extra or None}.get)
    encoded = moses_bpe.encoder(models["moses_bpe"])(seen)
    assert encoded == [bpe.process_line(line) for line in seen]
    assert [line.replace("@@ ", "") for line in encoded] == seen
    assert any("@@ " in line for line in encoded)


def test_rare_words_are_dropped_where_the_count_would_outgrow_memory(
    texts: TrainingTexts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moses_bpe, "TYPES", 40)
    learn_model("moses_bpe", texts, tmp_path, 20, 1)
    assert len((tmp_path / CODES).read_text("utf-8").split("\n")) == 1 + 20 + 1


@pytest.mark.parametrize(("pairs", "most", "step"), [(500, 500, 1), (500, 499, 2), (500, 100, 5), (500, 7, 72)])
def test_a_sample_is_every_nth_pair(texts: TrainingTexts, pairs: int, most: int, step: int) -> None:
    sides = [path.read_text("utf-8").split("\n")[:-1][::step] for path in texts[:2]]
    expected = [line for pair in zip(*sides, strict=True) for line in pair]
    assert list(sentencepiece_subwords.sample(TrainingTexts(texts.source, texts.target, pairs), most)) == expected
    assert len(expected) <= 2 * most


@pytest.mark.parametrize("size", [60, 100_000])
def test_an_impossible_vocabulary_says_what_is_possible(texts: TrainingTexts, tmp_path: Path, size: int) -> None:
    with pytest.raises(UserError, match=rf"cannot learn {size} pieces: .*(too high|smaller than required)") as refusal:
        learn_model("sentencepiece", texts, tmp_path, size, 1)
    allowed = re.search(r" Give --vocabulary (\d+) or (more|less)$", str(refusal.value))
    assert allowed
    learn_model("sentencepiece", texts, tmp_path, int(allowed[1]), 1)
    beyond = int(allowed[1]) + (-1 if allowed[2] == "more" else 1)
    with pytest.raises(UserError, match=f"cannot learn {beyond} pieces"):
        learn_model("sentencepiece", texts, tmp_path, beyond, 1)


def test_text_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("a b\nc\n")
    with pytest.raises(UserError, match="no word of two letters"):
        learn_model("moses_bpe", TrainingTexts(tmp_path / "letters", tmp_path / "letters", 2), tmp_path, 10, 1)
