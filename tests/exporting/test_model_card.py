"""A model card says what the records of its own checkpoint say."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import UNSET, to_builtins
from texts import translation_records
from tiny_models import exportable

from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.corpora.preparing.cleaning import Steps
from realformer_nmt.exporting import model_card
from realformer_nmt.exporting.loaded_run import LoadedRun

SIGNATURE = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
SCORE = {"metric": "sacreBLEU", "score": 80.297, "signature": SIGNATURE, "interval": 2.763}


@pytest.fixture
def source(tmp_path: Path) -> LoadedRun:
    run = exportable.source(("post", "admin", "dot", "none"), tmp_path)
    run.path.write_bytes(b"weights")
    return run


def judge(source: LoadedRun, digest: str, **fields: Any) -> None:
    model = {"checkpoint": "model.pt", "sha256": digest, "arch": "admin", "parameters": 7}
    record = {"models": [model], "scores": {"bleu": SCORE}, "corpus": "own files", "subset": "test"}
    json_records.write_sealed(source.path.parent / "run.json", {**record, "lines": 500, **fields})


def section(card: str, name: str) -> str:
    return card.partition(f"## {name}\n\n")[2].partition("\n\n##")[0]


def test_a_checkpoint_named_in_its_own_folder_is_of_its_run(
    source: LoadedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkpoints").mkdir()
    monkeypatch.chdir(tmp_path / "checkpoints")
    assert source._replace(path=Path("checkpoint_last.pt")).folder == tmp_path


def test_scores_are_those_of_this_checkpoint_with_their_signatures(source: LoadedRun) -> None:
    judge(source, sha256(source.path), protocol="small", training_seed=3, averaged=["a.pt", "b.pt"])
    card = model_card.of(source)
    assert section(card, "Scores") == (
        f"Of own files, test, 500 lines:\n\n* sacreBLEU: 80.30 (95 %: plus or minus 2.76), `{SIGNATURE}`"
    )
    assert section(card, "Data") == "* subwords: none\n* protocol: small\n* seed: 3\n* averaged checkpoints: 2"
    head = yaml.safe_load(card.split("---\n")[1])
    assert (head["language"], head["license"], head["pipeline_tag"]) == (["src", "tgt"], "unknown", "translation")
    assert "at most 1023 subwords" in section(card, "Limits")


def test_the_longest_sentence_fits_both_sides_with_its_end_symbol(tmp_path: Path) -> None:
    """The export has as many positions on both sides, those of the shorter."""
    run = exportable.source(("post", "admin", "dot", "none"), tmp_path, max_target_positions=9)
    assert "at most 8 subwords" in section(model_card.of(run), "Limits")


@pytest.mark.parametrize(("name", "shown"), [("wmt20/dev", "wmt20/dev"), ("/tests/own.tsv", "own.tsv")])
def test_scores_of_another_text_are_not_those_of_the_corpus(source: LoadedRun, name: str, shown: str) -> None:
    translation = to_builtins(translation_records.record(subset=UNSET, test_set=name))
    judge(source, sha256(source.path), subset=None, translation=translation)
    assert section(model_card.of(source), "Scores").startswith(f"Of own files, {shown}, 500 lines:")


def test_scores_of_another_checkpoint_are_not_its_own(source: LoadedRun) -> None:
    assert section(model_card.of(source), "Scores") == "None on record."
    judge(source, "0" * 64)
    assert section(model_card.of(source), "Scores") == "None on record."


def test_every_language_is_text_to_yaml(source: LoadedRun) -> None:
    corpus = dataclasses.replace(source.corpus, source="no", target="1e3")
    card = model_card.of(source._replace(corpus=corpus))
    assert yaml.safe_load(card.split("---\n")[1])["language"] == ["no", "1e3"]


def test_a_record_holds_no_markup(source: LoadedRun) -> None:
    judge(source, sha256(source.path), corpus="<script>x</script>\n# [a](http://b)", protocol="`---`")
    card = model_card.of(source)
    assert "<script" not in card
    assert "[a]" not in card
    assert card.count("\n# ") == 1
    assert "protocol: ?---?" in card


def test_without_a_tokenizer_the_card_gives_the_numbers_of_subwords(source: LoadedRun, tmp_path: Path) -> None:
    corpus = dataclasses.replace(source.corpus, subwords="moses_bpe", folder=tmp_path, steps=Steps("src", True))
    for run in (source, source._replace(corpus=corpus)):
        card = model_card.of(run)
        assert "dict.src.txt" in section(card, "Use")
        assert "AutoTokenizer" not in card
    corpus = dataclasses.replace(corpus, subwords="sentencepiece")
    assert "AutoTokenizer" in section(model_card.of(source._replace(corpus=corpus)), "Use")


def test_the_steps_of_the_training_text_are_named_as_far_as_nothing_does_them_later(source: LoadedRun) -> None:
    assert "* realformer_nmt did not normalise its training text." in model_card.of(source)
    corpus = dataclasses.replace(
        source.corpus, steps=Steps("src", normalise_punctuation=True, tokenise="plain", lowercase=True)
    )
    card = model_card.of(source._replace(corpus=corpus))
    steps = "normalise punctuation and tokenise (Moses, plain hyphens) and lowercase"
    assert f"* Its training text went through: {steps}. Nothing here does that: do it before." in card
