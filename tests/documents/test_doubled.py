"""Scores in fp64 of docs/results/scripts/ties.py against fairseq's own scorer, and against our own model in fp64."""

import pytest
import torch
from fairseq.models import BaseFairseqModel
from fairseq.sequence_scorer import SequenceScorer
from searches import Doubled, total_scores
from tiny_models.stock import spread, stock
from tiny_models.tiny import EOS, PAD, PREVIOUS, SOURCE, build, dictionary

TARGET = torch.cat([PREVIOUS[:, 1:], torch.full((3, 1), PAD)], 1)
TARGET[torch.arange(3), PREVIOUS.ne(PAD).sum(1) - 1] = EOS
HYPOTHESES = [tuple(row[row.ne(PAD)].tolist()) for row in TARGET]
TEXT = SOURCE[1]  # without padding


@pytest.fixture(params=["post", "pre"])
def models(request: pytest.FixtureRequest) -> tuple[BaseFairseqModel, BaseFairseqModel]:
    fairseq_model = stock(request.param == "pre").double().eval()
    package_model = build(residual_topology=request.param).double().eval()
    package_model.load_state_dict(spread(fairseq_model).state_dict(), strict=True)
    return fairseq_model, package_model


def scored_by_fairseq(model: BaseFairseqModel) -> list[float]:
    source = {"src_tokens": TEXT.expand(3, -1), "src_lengths": torch.full((3,), len(TEXT))}
    sample = {"net_input": {**source, "prev_output_tokens": PREVIOUS}, "target": TARGET}
    scored = SequenceScorer(dictionary()).generate([model], sample)
    return [float(best["positional_scores"].sum()) for (best,) in scored]


def test_totals_are_those_of_fairseqs_scorer(models: tuple[BaseFairseqModel, BaseFairseqModel]) -> None:
    fairseq_model, package_model = models
    with Doubled():
        expected = scored_by_fairseq(fairseq_model)
    for model in (fairseq_model, package_model):
        assert list(total_scores(model, TEXT, HYPOTHESES).values()) == pytest.approx(expected, rel=1e-13)


def test_fairseqs_scorer_alone_rounds_to_fp32(models: tuple[BaseFairseqModel, BaseFairseqModel]) -> None:
    exact = list(total_scores(models[0], TEXT, HYPOTHESES).values())
    assert scored_by_fairseq(models[0]) == pytest.approx(exact, rel=1e-5)
    assert scored_by_fairseq(models[0]) != pytest.approx(exact, rel=1e-13)


def test_a_beginning_is_scored_as_part_of_the_whole(models: tuple[BaseFairseqModel, BaseFairseqModel]) -> None:
    whole = max(HYPOTHESES, key=len)
    scores = total_scores(models[0], TEXT, [whole[:end] for end in range(1, len(whole) + 1)])
    assert len(scores) == len(whole)
    assert sorted(scores.values(), reverse=True) == list(scores.values())
