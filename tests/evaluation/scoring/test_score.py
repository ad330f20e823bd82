"""Scores against the sacrebleu command line and fairseq's own scorer; run.json; what is refused."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU
from texts import translation_records
from texts.scored_folders import folder_of, request, scored
from texts.word_salad import texts

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.metrics.metric_table import tokenised_bleu
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts, measure
from realformer_nmt.evaluation.scoring import raw_texts, scoring


def test_the_raw_scores_are_those_of_the_sacrebleu_command(tmp_path: Path) -> None:
    """Separators that are no line feed stay within a line; scores, intervals and signatures to the last digit."""
    hypotheses, reference = texts()
    hypotheses[3], reference[3], hypotheses[5] = "a\u2028b\x85c", "a b\rc", ""
    folder = folder_of(tmp_path, hypotheses, reference)
    scores = scored(folder, "--bootstrap", "200", "--seed", "7")
    program = Path(sysconfig.get_path("scripts"), "sacrebleu")
    flags = ["-m", "bleu", "chrf", "-ci", "-cin", "200", "-w", "8", "-f", "json"]
    command = [program, folder / "reference.txt", "-i", folder / "hypotheses.txt", *flags]
    environment = {**os.environ, "SACREBLEU_SEED": "7"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for score, expected in zip((scores["bleu"], scores["chrf"]), json.loads(done.stdout), strict=True):
        assert (score.metric.removeprefix("sacre"), score.signature) == (expected["name"], expected["signature"])
        assert score.score == pytest.approx(expected["score"], abs=1e-7)
        # its samples of chrF are float32
        assert score.mean == pytest.approx(expected["confidence_mean"], abs=1e-5)
        assert score.interval == pytest.approx(expected["confidence_var"], abs=1e-5)


def test_the_compound_split_score_is_given_only_where_hyphens_are_whole(tmp_path: Path) -> None:
    hypotheses, reference = texts()
    plain = folder_of(tmp_path / "plain", hypotheses, reference, [hypotheses, reference], hyphens="plain")
    scores = scored(plain)
    split = [metrics.split_compounds(lines) for lines in (hypotheses, reference)]
    assert scores["compound_split_bleu"].score == measure(tokenised_bleu(), "", ScoredTexts("", *split)).score
    assert scores["compound_split_bleu"].score != scores["tokenised_bleu"].score
    split_hypotheses = [line.replace("-", " @-@ ") for line in hypotheses]
    for name, words, hyphens in [
        ("a", split_hypotheses, "aggressive"),
        ("mislabelled", split_hypotheses, "plain"),
        ("words", hypotheses, None),
    ]:
        scores = scored(folder_of(tmp_path / name, hypotheses, reference, [words, words], hyphens=hyphens))
        assert scores.keys() == {"bleu", "chrf", "tokenised_bleu"}
        assert scores["bleu"].score == BLEU().corpus_score(hypotheses, [reference]).score


def test_text_of_sentencepiece_is_tokenised_for_scoring_and_called_so(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ["Ein Vor-Ort-Termin, ja!"], ["Ein Vor-Ort-Besuch, ja!"], subwords="sentencepiece")
    scores = scored(folder, "--bootstrap", "0")
    by_hand = ["Ein Vor @-@ Ort @-@ Termin , ja !"], ["Ein Vor @-@ Ort @-@ Besuch , ja !"]
    assert scores["retokenised_bleu"].score == pytest.approx(
        measure(tokenised_bleu(), "", ScoredTexts("", *by_hand)).score
    )
    assert (scores["retokenised_bleu"].metric, "tokenised_bleu" in scores) == ("retokenised BLEU", False)


def test_subwords_that_no_method_makes_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ["Ein Termin"], ["Ein Termin"], subwords="moses")
    with pytest.raises(UserError, match=r"translation\.json: subwords moses is not one of .*did you mean moses_bpe"):
        scored(folder, "--bootstrap", "0")


def test_of_summaries_rouge_is_scored_and_is_part_of_what_was_asked(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ["police kill the gunman"], ["police killed the gunman"])
    scores = scored(folder, "--rouge", "--bootstrap", "0")
    by_hand = {"ROUGE-1": 75, "ROUGE-2": 100 / 3, "ROUGE-L": 75}
    rouge = {score.metric: score.score for score in scores.values() if score.metric in by_hand}
    assert rouge == pytest.approx(by_hand)
    assert not {score.metric for score in scored(folder, "--bootstrap", "0").values()} & {*by_hand}
    settings = [scoring.stage_of(request(folder, *more)).settings for more in (["--rouge"], [])]
    assert settings[0] == {**settings[1], "rouge": True}


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    hypotheses, reference = texts()
    folder = folder_of(tmp_path, hypotheses, reference[:-1])
    with pytest.raises(UserError, match="40 hypotheses and 39 references"):
        scored(folder)
    with pytest.raises(UserError, match="--seed 0: allowed is 1 to 4,294,967,295"):
        scored(folder_of(tmp_path, hypotheses, reference), "--seed", "0")
    (folder / "hypotheses.txt").write_text("changed\n")
    with pytest.raises(UserError, match=r"hypotheses\.txt is not what translation\.json describes"):
        request(folder).run()
    (folder / "translation.json").unlink()
    with pytest.raises(UserError, match=r"translation\.json: no such file; `realformer-nmt translate` writes it"):
        request(folder).run()
    with pytest.raises(UserError, match="pass --reference FILE"):
        raw_texts.raw(translation_records.record(prepared=None, subset="test"), 1)
