"""R-Drop against its formula in torch's own kl_div, and against the fused loss where the passes agree."""

import copy
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions import FairseqCriterion, build_criterion
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from fairseq.logging import metrics
from programs.fairseq_config import configured
from tiny_models.tiny import PAD, PREVIOUS, SOURCE, build, dictionary
from torch import Tensor
from torch.nn.functional import kl_div

from realformer_nmt.training import fused_loss, r_drop
from realformer_nmt.training.r_drop import Disagreement

NAME = "label_smoothed_cross_entropy_r_drop"
TARGET = torch.tensor([[5, 7, 2, 1, 1], [8, 7, 6, 5, 2], [6, 4, 9, 2, 1]])
TOKENS = int(TARGET.ne(PAD).sum())
SAMPLE = {
    "net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1), "prev_output_tokens": PREVIOUS},
    "target": TARGET,
    "ntokens": TOKENS,
}


def criterion(name: str, *flags: str) -> FairseqCriterion:
    task = SimpleNamespace(target_dictionary=dictionary())
    return build_criterion(configured("--criterion", name, "--label-smoothing", "0.1", *flags).criterion, task)


def disagreement(first: Tensor, second: Tensor) -> Tensor:
    p, q = first.log_softmax(-1), second.log_softmax(-1)
    both = (kl_div(p, q, log_target=True, reduction="sum"), kl_div(q, p, log_target=True, reduction="sum"))
    return sum(both, torch.zeros(())) / 2


def test_the_disagreement_and_its_gradients_are_those_of_kl_div(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused_loss, "CACHE_CHUNK", 40)  # three rows at a time
    first, second = (torch.randn(10, 13, dtype=torch.float64).mul(3).requires_grad_() for _ in range(2))
    counted = torch.arange(10) % 4 != 1
    actual = Disagreement.apply(first, second, counted)
    expected = disagreement(first[counted], second[counted])
    torch.testing.assert_close(actual, expected)
    gradients, expected_gradients = (torch.autograd.grad(2.5 * loss, (first, second)) for loss in (actual, expected))
    torch.testing.assert_close(gradients, expected_gradients)


def test_words_that_are_impossible_in_both_passes_do_not_count() -> None:
    first, second = torch.randn(2, 6), torch.randn(2, 6)
    extended = [torch.cat([logits, torch.full((2, 1), -torch.inf)], 1) for logits in (first, second)]
    actual = Disagreement.apply(*extended, torch.ones(2, dtype=torch.bool))
    torch.testing.assert_close(actual, disagreement(first, second))


def test_autocast_rounds_no_sum() -> None:
    first, second = (torch.randn(300, 50) for _ in range(2))
    with torch.autocast("cpu"):
        actual = Disagreement.apply(first, second, torch.ones(300, dtype=torch.bool))
    torch.testing.assert_close(actual, disagreement(first, second), rtol=1e-5, atol=0)


def outcome(judge: FairseqCriterion, model: Any) -> tuple[Tensor, int, dict[str, Any], list[Tensor]]:
    loss, size, log = judge(model, copy.deepcopy(SAMPLE))
    return loss.detach(), size, log, list(torch.autograd.grad(loss, list(model.parameters()), allow_unused=True))


def test_the_loss_is_the_papers_of_two_passes_with_their_own_dropout() -> None:
    model = build(dropout=0.3).train()
    torch.manual_seed(5)
    loss, size, log, _ = outcome(criterion(NAME, "--r-drop-alpha", "3"), model)
    torch.manual_seed(5)
    logits = model(**{name: torch.cat([value, value]) for name, value in SAMPLE["net_input"].items()})[0]
    first, second = logits.chunk(2)
    assert not torch.allclose(first, second)
    target = torch.cat([TARGET, TARGET]).reshape(-1, 1)
    log_q = logits.log_softmax(-1).flatten(0, 1)
    smoothed, nll = label_smoothed_nll_loss(log_q, target, 0.1, ignore_index=PAD)
    real = TARGET.ne(PAD)
    expected = smoothed + 3 * disagreement(first[real], second[real])
    torch.testing.assert_close(loss, expected.detach())
    torch.testing.assert_close(log["nll_loss"], nll.detach() / 2)
    assert (size, log["ntokens"], log["nsentences"]) == (TOKENS, TOKENS, len(TARGET))


def test_without_dropout_it_is_the_fused_loss_twice() -> None:
    model = build(dropout=0.0).train()
    loss, _, log, gradients = outcome(criterion(NAME), model)
    plain, _, _, expected = outcome(criterion("label_smoothed_cross_entropy_fused"), model)
    torch.testing.assert_close(loss, 2 * plain)
    torch.testing.assert_close(log["disagreement"], torch.zeros(()), atol=1e-4, rtol=0)
    for gradient, plain_gradient in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, plain_gradient * 2, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("prefix", [0, 2])
def test_accuracy_is_that_of_both_passes_over_the_words_of_one(prefix: int) -> None:
    flags, model = ("--report-accuracy", "--ignore-prefix-size", str(prefix)), build(dropout=0.5).train()
    torch.manual_seed(5)
    _, _, log, _ = outcome(criterion(NAME, *flags), model)
    torch.manual_seed(5)
    logits = model(**{name: torch.cat([value, value]) for name, value in SAMPLE["net_input"].items()})[0]
    correct = [each.argmax(-1).eq(TARGET)[:, prefix:][TARGET[:, prefix:].ne(PAD)] for each in logits.chunk(2)]
    assert log["n_correct"] == sum(int(each.sum()) for each in correct) / 2 > 0
    stock = criterion("label_smoothed_cross_entropy", *flags)(model.eval(), SAMPLE)[2]
    assert log["total"] == stock["total"] == len(correct[0])


def test_held_out_data_get_the_loss_without_it() -> None:
    model = build(dropout=0.3).eval()
    with torch.no_grad():
        actual, expected = (criterion(name)(model, SAMPLE) for name in (NAME, "label_smoothed_cross_entropy_fused"))
    torch.testing.assert_close(actual, expected)


def test_the_log_says_how_far_the_passes_are_apart() -> None:
    logs = [{"loss": 8.0, "nll_loss": 4.0, "disagreement": 6.0, "ntokens": 2, "sample_size": 2} for _ in range(2)]
    with metrics.aggregate() as meters:
        r_drop.RDropCriterion.reduce_metrics(logs)
    assert meters["disagreement"].val == 3.0
    for log in logs:
        del log["disagreement"]
    with metrics.aggregate() as held_out:
        r_drop.RDropCriterion.reduce_metrics(logs)
    assert "disagreement" not in held_out
    assert held_out["nll_loss"].val > 0
