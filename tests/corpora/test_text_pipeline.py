"""Raw text in pieces, as the training text was cut, and back."""

import re
import shutil
from pathlib import Path

import pytest
import sentencepiece
from programs import argv
from subword_nmt.learn_bpe import learn_bpe
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.preparing.cleaning import Steps
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.subwords.subword_methods import METHODS, SOURCE_MODEL, TAGS, TARGET_MODEL
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.data_bins import subsets

pytestmark = pytest.mark.usefixtures("forks")

RAW = [
    "Der Vor-Ort-Termin (am 3. Mai) kostet 5,50 €; nicht wahr?",
    'Er sagte: "Das geht nicht", und ging.',
    "A & B < C, [sic] | 100%",
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of models of both kinds of subwords, made by their own libraries."""
    folder = tmp_path_factory.mktemp("subwords")
    (folder / "text").write_text("\n".join(RAW * 5))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "sentencepiece"),
        vocab_size=400,
        byte_fallback=True,
        model_type="bpe",
        normalization_rule_name="identity",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with (folder / "text").open() as text, (folder / "bpe.codes").open("w") as codes:
        learn_bpe(text, codes, 10)
    for name in (SOURCE_MODEL, TARGET_MODEL):
        shutil.copy(folder / "sentencepiece.model", folder / name)
    (folder / TAGS).touch()
    return folder


@pytest.mark.parametrize("method", ["sentencepiece", "moses_bpe"])
def test_raw_text_is_read_as_the_training_text_was(method: str, tmp_path: Path) -> None:
    """The pieces of a text are those that `prepare` binarised for training; its test set, left as it was, differs."""
    sides = []
    for language in ("en", "de"):
        sides.append(tmp_path / f"text.{language}")
        lines = [f"{line} {number} \N{LEFT DOUBLE QUOTATION MARK}x\u2028y." for number, line in enumerate(RAW * 3)]
        sides[-1].write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    texts = [word for split in ("train", "valid", "test") for word in (f"--{split}", *map(str, sides))]
    size = {"sentencepiece": "400", "moses_bpe": "30"}[method]
    options = ["--source", "en", "--target", "de", "--subwords", method, "--vocabulary", size]
    options += ["--normalise-punctuation", "--no-normalise-test"]
    to = ("--folder", tmp_path / "prepared", "--workers", "1", "--quiet")
    assert argv.read(PrepareRequest, *options, *texts, *to).run() == 0
    corpus = text_pipeline.read(tmp_path / "prepared")
    assert corpus.texts == {split: ["text.en"] for split in ("train", "valid", "test")}
    assert corpus.steps.tokenise == ("aggressive" if method == "moses_bpe" else None)
    pieces = corpus.pieces(sides[0].read_bytes())
    subsets.binarise(pieces, corpus.data, "input", "en", "de", tmp_path)
    own_text = (tmp_path / "input.en-de.en.bin").read_bytes()
    assert own_text == (corpus.data / "train.en-de.en.bin").read_bytes()
    assert own_text != (corpus.data / "test.en-de.en.bin").read_bytes()
    assert subsets.count(corpus.data, "train", "en", "de") == len(RAW) * 3


@pytest.mark.parametrize("method", METHODS)
def test_raw_text_comes_back_from_its_pieces(models: Path, method: str) -> None:
    steps = Steps("de", tokenise="aggressive" if method == "moses_bpe" else None)
    corpus = TextPipeline(Path(), "de", "de", method, models, steps)
    lines = [*RAW, "", "Ein \N{GREEK SMALL LETTER OMEGA} mehr."]
    pieces = corpus.pieces("".join(f"{line}\n" for line in lines).encode())
    assert len(pieces) == len(lines)
    assert (pieces == lines) == (method == "none")
    assert corpus.surface(pieces).raw == lines


def test_tokenised_text_is_what_bpe_was_applied_to(models: Path) -> None:
    corpus = TextPipeline(Path(), "de", "de", "moses_bpe", models, Steps("de", tokenise="aggressive"))
    pieces = corpus.pieces(f"{RAW[0]}\n{RAW[2]}\n".encode())
    assert "@@ " in pieces[0]
    assert corpus.surface(pieces).tokenised == [
        "Der Vor @-@ Ort @-@ Termin ( am 3. Mai ) kostet 5,50 € ; nicht wahr ?",
        "A &amp; B &lt; C , &#91; sic &#93; &#124; 100 %",
    ]
    assert corpus.surface(["Ende@@"]).tokenised == ["Ende"]  # cut at the longest length
    assert re.search("@@", "".join(corpus.surface(pieces).tokenised or [])) is None


def test_the_text_is_by_default_prepared_as_the_models_was(toy_corpus: Path, tmp_path: Path) -> None:
    prepared = tmp_path / "data"
    shutil.copytree(toy_corpus, prepared / "data-bin")
    model = saved.save(tmp_path / "model.pt", saved.state(prepared / "data-bin"))
    with pytest.raises(UserError, match="a data-bin that `prepare` has not made"):
        text_pipeline.with_corpus(CorpusOptions(), model)
    (prepared / "prepare.json").touch()
    assert text_pipeline.with_corpus(CorpusOptions(), model).prepared == prepared
    assert text_pipeline.with_corpus(CorpusOptions(data=toy_corpus), model).prepared is None


def test_a_model_of_one_pair_may_read_several_languages(tmp_path: Path) -> None:
    assert text_pipeline.pair(tmp_path, ("mul", "en"), (None, None)) == ("mul", "en")
