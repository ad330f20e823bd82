"""Steps recorded by shape and replayed, by a stand-in for CUDA graphs: the same to the bit as steps that run."""

import contextlib
import functools
import logging
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions import label_smoothed_cross_entropy as smoothed
from tiny_models import tiny
from tiny_models.representatives import REPRESENTATIVES
from tiny_models.stand_in_recorder import StandInRecorder
from torch import Tensor, nn

from realformer_nmt.kernels.native.library import HIDDEN
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.training.fused_loss import FusedLabelSmoothedCrossEntropyCriterion
from realformer_nmt.training.r_drop import RDropCriterion
from realformer_nmt.training.recorded_steps import ModelInTraining, RecordedSteps, Step, check_room

LOSSES = {
    "fairseq's": smoothed.LabelSmoothedCrossEntropyCriterion,
    "fused": FusedLabelSmoothedCrossEntropyCriterion,
    "r_drop": functools.partial(RDropCriterion, r_drop_alpha=1.0),
}
UPDATES = 4  # an update has two micro-batches, whose shapes alternate


@pytest.fixture(autouse=True)
def torch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stand-in see every operation."""
    monkeypatch.setenv(HIDDEN, "0")


def batch(seed: int, length: int) -> dict[str, Any]:
    """Three pairs; the last one's sides are half as long."""
    torch.manual_seed(seed)
    source, target = (torch.randint(4, 14, (3, length)) for _ in range(2))
    source[-1, : length // 2] = target[-1, length // 2 :] = tiny.PAD
    previous = torch.cat([torch.full((3, 1), tiny.EOS), target[:, :-1]], 1)
    inputs = {"src_tokens": source, "src_lengths": source.ne(tiny.PAD).sum(1), "prev_output_tokens": previous}
    return {"net_input": inputs, "target": target, "ntokens": int(target.ne(tiny.PAD).sum()), "nsentences": 3}


class Loop:
    """A training by SGD without fairseq's trainer; an optimizer that scales the loss may overflow."""

    def __init__(self, family: str, loss: str = "fused", steps: RecordedSteps | None = None, **options: Any) -> None:
        model = tiny.build(**{**FAMILIES[family], "dropout": 0.1, **options}).train()
        self.sgd = torch.optim.SGD(model.parameters(), lr=1e-4)
        self.scaler = SimpleNamespace(loss_scale=8.0)
        optimizer = SimpleNamespace(scaler=self.scaler)
        self.training = ModelInTraining(
            model, LOSSES[loss](tiny.task(), sentence_avg=False, label_smoothing=0.1), optimizer
        )
        self.steps = steps

    def run(self) -> list[Tensor]:
        """Return all losses, and the weights in the end."""
        logs = []
        for update in range(UPDATES):
            self.clear()
            torch.manual_seed(update)
            self.training.model.set_num_updates(update)
            self.scaler.loss_scale = 8.0 / (1 + update)
            logs += [self.micro_batch(batch(10 * update + length, length)) for length in (4, 6)]
            self.sgd.step()
        losses = [value for log in logs for value in log.values()]
        return [*map(torch.as_tensor, losses), *(weight.detach() for weight in self.training.model.parameters())]

    def clear(self) -> None:
        clear = functools.partial(self.sgd.zero_grad, set_to_none=True)
        self.steps.clear_gradients(clear) if self.steps else clear()

    def micro_batch(self, sample: dict[str, Any]) -> dict[str, Any]:
        _, _, log = (
            self.steps.step(self.training, sample, lambda: self.eager(sample)) if self.steps else self.eager(sample)
        )
        return log

    def eager(self, sample: dict[str, Any]) -> Step:
        loss, sample_size, log = self.training.criterion(self.training.model, sample)
        (loss * self.scaler.loss_scale).backward()
        return loss, sample_size, log


def recorded(family: str, **options: Any) -> tuple[RecordedSteps, list[Tensor]]:
    steps = RecordedSteps(StandInRecorder())
    return steps, Loop(family, steps=steps, **options).run()


@pytest.mark.parametrize("family", REPRESENTATIVES)
def test_a_recorded_training_is_the_same_to_the_bit(family: str) -> None:
    steps, results = recorded(family)
    assert all(steps.steps.values())
    assert len(steps.steps) == 2
    assert_equal(results, Loop(family).run())


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_recorded(loss: str) -> None:
    steps, results = recorded("realformer", loss=loss)
    assert len([step for step in steps.steps.values() if step]) == 2
    assert_equal(results, Loop("realformer", loss=loss).run())


def assert_equal(results: list[Tensor], expected: list[Tensor]) -> None:
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        assert torch.equal(result, value)


def test_recordings_give_way_where_a_step_lacks_memory() -> None:
    def fail() -> Step:
        raise torch.cuda.OutOfMemoryError

    steps, _ = recorded("post_ln")
    loop = Loop("post_ln", steps=steps)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        steps.step(loop.training, batch(1, 8), fail)
    assert [*steps.steps.values()] == [None, None]


def test_beyond_the_limit_shapes_run(caplog: pytest.LogCaptureFixture) -> None:
    steps = RecordedSteps(StandInRecorder(), most=1)
    with caplog.at_level(logging.INFO):
        results = Loop("post_ln", steps=steps).run()
    assert [step is None for step in steps.steps.values()] == [False, True]
    assert caplog.text.count("recorded the step of shape") == 1
    assert_equal(results, Loop("post_ln").run())


@pytest.mark.parametrize("error", [RuntimeError, torch.OutOfMemoryError])
def test_a_step_that_cannot_be_recorded_runs(error: type[RuntimeError], caplog: pytest.LogCaptureFixture) -> None:
    class Failing(StandInRecorder):
        def record(self, run: Any) -> Any:
            super().record(run)
            raise error("operation not permitted when stream is capturing\nand so on")

    results = Loop("post_ln", steps=RecordedSteps(Failing())).run()
    assert caplog.text.count("not recorded: operation not permitted when stream is capturing\n") == 2
    assert_equal(results, Loop("post_ln").run())


def test_the_largest_shape_is_recorded_first() -> None:
    steps = RecordedSteps(StandInRecorder())
    Loop("post_ln", steps=steps).run()  # its short batches come before its long ones
    assert [shape[-1] for shape in steps.steps] == [(3, 6), (3, 4)]


@pytest.mark.parametrize("free", [2.9e9, 3.1e9])
def test_a_recording_needs_as_much_memory_again_as_a_step_takes(free: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here recordings have 3 GB already."""
    figures = {"max_memory_allocated": 5e9, "memory_allocated": 2e9, "memory_reserved": 5e9, "empty_cache": None}
    for name, figure in {**figures, "mem_get_info": (free, 9e9)}.items():
        monkeypatch.setattr(torch.cuda, name, lambda figure=figure: figure)
    refusal = pytest.raises(RuntimeError, match=r"5.9 GB are free or recordings', up to 2 x 3.0 GB are needed")
    with refusal if free < 3e9 else contextlib.nullcontext():
        check_room()


def test_the_stand_in_sees_a_constant_that_changes() -> None:
    """A share of a branch that Python computes at every update would be recorded once, as by a CUDA graph."""

    class Changing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.share, self.sum = 1.0, torch.zeros(())

        def forward(self) -> None:
            self.sum += self.share * torch.ones(())

    module = Changing()
    replay = StandInRecorder().record(module)
    assert module.sum == 0  # a recording has no effect
    module.share = 5.0
    replay()
    assert module.sum == 1
