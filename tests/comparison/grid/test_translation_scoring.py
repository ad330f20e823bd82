"""A metric is refused before any training where `score` has not the text that it is computed from."""

from pathlib import Path

import pytest
from grids.grid_cells import corpus_of
from texts import translation_records

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.evaluation.metrics.metric_table import text_forms
from realformer_nmt.evaluation.scoring import scoring
from realformer_nmt.evaluation.scoring.score import ScoreRequest

PLAIN = 'families = ["pre_ln"]\nlayers = ["1"]\n'
TOKENS = "hypotheses.tok", "reference.tok"  # files of `translate`, of subwords of words
DATA_BIN = '[data]\nfolder = "."\nreference = "test.de"\nsubwords = '


@pytest.mark.parametrize(
    ("subwords", "hyphens", "files"),
    [
        ("sentencepiece", None, ()),
        ("moses_bpe", "aggressive", TOKENS),
        ("moses_bpe", "plain", TOKENS),
        ("none", None, TOKENS),
    ],
)
def test_the_forms_of_a_text_are_those_that_score_makes(
    subwords: str, hyphens: str | None, files: tuple[str, ...], tmp_path: Path
) -> None:
    for name in TOKENS:
        (tmp_path / name).write_text("ein Wort\n")
    translation = translation_records.record(subwords=subwords, hyphens=hyphens, files=dict.fromkeys(files, ""))
    request = ScoreRequest(translation=tmp_path, output=tmp_path / "run.json", rouge=True)
    forms = scoring.texts(request, translation, ["ein Wort"], ["ein Wort"])
    assert text_forms(METHODS[subwords], hyphens) == forms.keys()


@pytest.mark.parametrize(
    ("metric", "corpus"),
    [
        ("tokenised_bleu", 'corpus = "wmt14_en_de"\n[prepare]\nsubwords = "moses_bpe"'),
        ("retokenised_bleu", 'corpus = "multi30k_en_de"'),
        ("tokenised_bleu", f'{DATA_BIN}"none"'),
        ("rouge_l", 'corpus = "multi30k_en_de"'),
    ],
)
def test_a_metric_that_the_text_allows_is_accepted(metric: str, corpus: str, tmp_path: Path) -> None:
    assert corpus_of(*grid_of(metric, corpus, tmp_path)).name


@pytest.mark.parametrize(
    ("metric", "corpus", "message"),
    [
        ("tokenised_bleu", 'corpus = "multi30k_en_de"', "subwords sentencepiece: allowed are bleu, chrf, retokenised_"),
        (
            "compound_split_bleu",
            'corpus = "wmt14_en_de"\n[prepare]\nsubwords = "moses_bpe"',
            "subwords moses_bpe and hyphens aggressive: allowed are bleu, chrf, tokenised_bleu, rouge_1",
        ),
        ("retokenised_bleu", f'{DATA_BIN}"none"', "subwords none: allowed are bleu, chrf, tokenised_bleu, rouge_1"),
    ],
)
def test_a_metric_of_a_text_that_there_is_not_is_refused(
    metric: str, corpus: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as error:
        corpus_of(*grid_of(metric, corpus, tmp_path))
    assert f"grid.toml: metric {metric} is not defined for text with {message}" in str(error.value)


def test_it_is_refused_before_the_corpus_is_prepared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid_of("tokenised_bleu", 'corpus = "multi30k_en_de"', tmp_path)
    for option in ((), ("--plan",)):
        words = ["compare", str(tmp_path / "grid.toml"), "--folder", str(tmp_path / "runs"), "--gpus", "0", *option]
        assert main(words) == 1
        assert "metric tokenised_bleu is not defined" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def grid_of(metric: str, corpus: str, folder: Path) -> tuple[object, Path]:
    """Return a grid with a metric and a corpus, beside a data-bin that is empty, and the folder of its comparison."""
    (folder / "dict.en.txt").touch()
    (folder / "train.en-de.en.idx").touch()
    (folder / "grid.toml").write_text(f'metric = "{metric}"\n{PLAIN}{corpus}\n')
    return load(folder / "grid.toml"), folder / "runs"
