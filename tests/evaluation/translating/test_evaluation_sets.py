"""A test set as sacreBLEU keeps it, translated and scored, against its files given by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from programs import argv, commands
from sacrebleu.dataset import DATASETS, base
from sacrebleu.dataset.plain_text import PlainTextDataset

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.evaluation.scoring import score
from realformer_nmt.evaluation.translating import evaluation_sets, translate

PAIR = ("src", "tgt")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """sacreBLEU's, with nothing in it; nobody answers where its test set `toy` would come from."""
    monkeypatch.setattr(base, "SACREBLEU_DIR", str(tmp_path / "cache"))
    toy = PlainTextDataset("toy", ["http://127.0.0.1:9/toy.tgz"], md5=["0"], langpairs={"src-tgt": ["a", "b"]})
    monkeypatch.setitem(DATASETS, "toy", toy)
    return tmp_path / "cache" / "toy"


@pytest.fixture
def filled(cache: Path, toy_corpus: Path) -> Path:
    cache.mkdir(parents=True)
    for side, ending in zip(PAIR, ("src", "ref"), strict=True):
        lines = read_lines(toy_corpus.parent / f"test.{side}")[:9]
        (cache / f"toy.src-tgt.{ending}").write_text("".join(f"{line}\n" for line in lines))
    return cache


def called(command: Any, *words: object) -> None:
    with commands.starting_forks():
        assert argv.read(command.REQUEST, *words).run() == 0


def test_it_is_translated_and_scored_from_the_cache(filled: Path, run: Path, toy_corpus: Path, tmp_path: Path) -> None:
    fixed = [run / "checkpoint5.pt", "--data", toy_corpus, "--subwords", "none", "--cpu", "--beam", "2"]
    called(translate, *fixed, "--test-set", "toy", "--output", tmp_path / "by_name")
    hypotheses = read_lines(tmp_path / "by_name" / "hypotheses.txt")
    assert len(hypotheses) == 9
    called(score, tmp_path / "by_name", "--output", tmp_path / "run.json", "--bootstrap", "0")
    bleu = json.loads((tmp_path / "run.json").read_text())["scores"]["bleu"]["score"]
    references = read_lines(filled / "toy.src-tgt.ref")
    assert bleu == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [references]).score)

    called(translate, *fixed, "--input", filled / "toy.src-tgt.src", "--output", tmp_path / "by_file")
    assert read_lines(tmp_path / "by_file" / "hypotheses.txt") == hypotheses
    called(score, tmp_path / "by_file", "--test-set", "toy", "--output", tmp_path / "other.json", "--bootstrap", "0")
    assert json.loads((tmp_path / "other.json").read_text())["scores"]["bleu"]["score"] == bleu

    (filled / "toy.src-tgt.src").write_text("a b\n" * 9)
    with pytest.raises(
        UserError, match=r"by_file is no translation of .*toy\.src-tgt\.src: `translate --test-set toy`"
    ):
        called(score, tmp_path / "by_file", "--test-set", "toy", "--output", tmp_path / "third.json")


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "--test-set  is not one of "),
        ("wmt2014", "--test-set wmt2014 is not one of .*did you mean wmt"),
        ("wmt24", "--test-set wmt24 has no src-tgt; it has cs-uk, en-cs, "),
        ("toy", r"--test-set toy: sacreBLEU cannot download it \(.*refused.*\): connect to the internet, or copy"),
    ],
)
def test_what_there_is_not_is_said(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        evaluation_sets.find(name, PAIR)
