"""Tokenised BLEU against fairseq's own scorer, compounds against Perl."""

import subprocess

import pytest
from fairseq.data import Dictionary
from fairseq.scoring.bleu import BleuConfig, Scorer
from sacrebleu.metrics import BLEU, CHRF
from texts.word_salad import texts

from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.metrics.metric_table import RAW, ChrF, tokenised_bleu
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts, measure


@pytest.mark.parametrize("number", [1, 40])
def test_tokenised_bleu_is_that_of_fairseqs_scorer(number: int) -> None:
    """An unknown word of the reference, <<unk>>, matches nothing, not even an <unk> of the hypothesis."""
    hypotheses, reference = texts(2, number, ["der", "die", "@-@", "&apos;", "Haus", ".", ",", "<unk>"])
    escaped = [line.replace("<unk>", "<<unk>>") for line in reference]
    words = Dictionary()
    scorer = Scorer(BleuConfig(pad=words.pad(), eos=words.eos(), unk=words.unk()))
    for hypothesis, line in zip(hypotheses, escaped, strict=True):
        scorer.add(*(words.encode_line(text, add_if_not_exist=True).int() for text in (line, hypothesis)))
    score = measure(tokenised_bleu(), "", ScoredTexts("", hypotheses, escaped)).score
    assert score == pytest.approx(scorer.score(), abs=1e-3)
    assert score < measure(tokenised_bleu(), "", ScoredTexts("", hypotheses, reference)).score


def test_without_a_common_sequence_of_four_words_tokenised_bleu_is_0_as_in_fairseq() -> None:
    """sacreBLEU would smooth: 1-, 2- and 3-grams match."""
    hypothesis, reference = "a b c x a b c", "a b c d a b c"
    both = ScoredTexts("", [hypothesis], [reference])
    words = Dictionary()
    scorer = Scorer(BleuConfig(pad=words.pad(), eos=words.eos(), unk=words.unk()))
    scorer.add(*(words.encode_line(text, add_if_not_exist=True).int() for text in (reference, hypothesis)))
    assert measure(tokenised_bleu(), "", both).score == scorer.score() == 0
    assert measure(BLEU(), "", both).score > 30


def test_chrf_of_a_model_that_gets_hardly_a_letter_right_has_an_interval_too() -> None:
    """A sample of lines without a match scores 0."""
    hypotheses, reference = ["a", *["x"] * 5], ["a", *["y"] * 5]
    with metrics.seeded(1):
        chrf = metrics.scores({RAW: ScoredTexts("", hypotheses, reference)}, 40)["chrf"]
        words = ScoredTexts("", ["one word", "two words"], ["one word", "too wordy"])
        score, expected = (measure(scorer, "", words, 40) for scorer in (ChrF(), CHRF()))
    assert chrf.interval is not None
    assert chrf.interval > 0
    assert (score.score, score.signature) == (expected.score, expected.signature)
    assert (score.mean, score.interval) == pytest.approx((expected.mean, expected.interval), rel=1e-6)


def test_compounds_are_split_as_perls_substitution_does() -> None:
    lines = ["Vor-Ort-Termin", "a-b-c-d", "- a -b c- d", "x--y", "1-2 3-4", "\u00e4-\u00f6"]
    program = r"s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g"
    command = ["perl", "-CSD", "-pe", program]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    assert metrics.split_compounds(lines) == done.stdout.split("\n")
    assert metrics.split_compounds(["a-b"]) == ["a ##AT##-##AT## b"]
