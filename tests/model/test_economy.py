"""Speed rests on few operations, synchronisations, arrays kept and caches copied: they are counted, not timed."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from programs.program import REPOSITORY
from tiny_models.representatives import every_family
from tiny_models.tiny import PAD, PREVIOUS, SOURCE, build, combination, profiled
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.precision import supported
from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.training.fused_loss import ProjectedNLL

FREE = {
    "view",
    "_unsafe_view",
    "transpose",
    "t",
    "unsqueeze",
    "squeeze",
    "expand",
    "detach",
    "slice",
    "select",
    "split",
}
# Operations that do work, in a training step's forward pass: one more layer of encoder and of decoder
BUDGET = {"post_ln": 75, "realformer": 98}
DECODING_BUDGET = {  # the same for one more decoder layer in a step of beam search: six products
    "fp32": {"post_ln": 30, "realformer": 37},
    "int8": {"post_ln": 54, "realformer": 61},
}
WITHOUT_KERNELS = 0 if library() else 3  # more operations of torch's a layer, where no kernels are built or able


class Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names[operation.overloadpacket.__name__] += 1
        return operation(*args, **(kwargs or {}))


def operations(run: Callable[[], object]) -> Counter[str]:
    with Counting() as counting:
        run()
    return counting.names


def test_the_plug_in_imports_nothing_but_itself_beyond_what_fairseq_does() -> None:
    program = (
        "import sys, fairseq_cli.train\nknown = {*sys.modules}\nimport realformer_nmt\nprint(*{*sys.modules} - known)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert {module.partition(".")[0] for module in modules} == {"realformer_nmt"}


@every_family
@pytest.mark.parametrize("training", [True, False])
def test_a_forward_pass_waits_for_no_value(family: str, training: bool) -> None:
    """Tensors of the meta device have no values: asking for one is an error."""
    model = profiled(build(**FAMILIES[family], dropout=0.1, attention_dropout=0.1)).train(training).to("meta")
    source, previous = SOURCE.to("meta"), PREVIOUS.to("meta")
    with pytest.raises(RuntimeError, match="meta"):
        source.any().item()
    logits, _ = model(source, source.ne(PAD).sum(1), previous)
    assert logits.shape[:2] == PREVIOUS.shape


@every_family
def test_a_decoding_step_waits_for_no_value(family: str) -> None:
    model, state = build(**FAMILIES[family]).eval().to("meta"), {}
    encoder_out = model.encoder(SOURCE.to("meta"))
    for end in (1, 2):
        logits, _ = model.decoder(PREVIOUS[:, :end].to("meta"), encoder_out, incremental_state=state)
    assert logits.shape[:2] == (3, 1)


def work(family: str, layers: int) -> int:
    model = profiled(build(**FAMILIES[family], encoder_layers=layers, decoder_layers=layers, dropout=0.1)).train()
    names = operations(lambda: model(SOURCE, None, PREVIOUS))
    return sum(number for name, number in names.items() if name not in FREE)


@pytest.mark.parametrize("family", BUDGET)
def test_operations_a_layer_stay_within_the_budget(family: str) -> None:
    assert work(family, 3) - work(family, 2) <= BUDGET[family] + WITHOUT_KERNELS


@pytest.mark.parametrize("precision", [name for name in DECODING_BUDGET if name in supported()])
@pytest.mark.parametrize("family", ["post_ln", "realformer"])
def test_operations_of_a_decoding_step_stay_within_the_budget(family: str, precision: str) -> None:
    def step(layers: int) -> int:
        model, state = profiled(build(**FAMILIES[family], decoder_layers=layers)).eval(), {}
        model.make_generation_fast_(precision=precision)
        with torch.no_grad():
            encoder_out = model.encoder.reorder_encoder_out(model.encoder(SOURCE), torch.arange(6) // 2)
            run = partial(model.decoder, encoder_out=encoder_out, incremental_state=state)
            run(PREVIOUS[:, :1].repeat_interleave(2, 0))
            names = operations(lambda: run(PREVIOUS[:, :2].repeat_interleave(2, 0)))
        return sum(number for name, number in names.items() if name not in FREE)

    assert step(3) - step(2) <= DECODING_BUDGET[precision][family] + WITHOUT_KERNELS


@pytest.mark.parametrize("carry", ["sum", "mean"])
def test_a_carried_score_is_kept_no_more_often_than_one_that_is_not(carry: str) -> None:
    def kept(carry: str) -> int:
        arrays: dict[int, int] = {}

        def keep(saved: Tensor) -> Tensor:
            arrays[saved.untyped_storage().data_ptr()] = saved.numel()
            return saved

        model = combination(("post", "none", "dot", carry), attention_dropout=0.1, encoder_layers=5).train()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
            output = model.encoder(SOURCE)
        del output
        return list(arrays.values()).count(3 * 2 * 6 * 6)  # B x H x S x S

    assert kept(carry) == kept("none")


def beams(order: list[int]) -> tuple[Decoding, list[int]]:
    """The state of three sentences with two beams each after two steps and that reordering; addresses before it."""
    model, state = build().eval(), {}
    twice = torch.arange(3).repeat_interleave(2)
    encoder_out = model.encoder.reorder_encoder_out(model.encoder(SOURCE), twice)
    for end in (1, 2):
        model.decoder(PREVIOUS[twice, :end], encoder_out, incremental_state=state)
    decoding = state["decoding"]
    before = addresses(decoding)
    model.decoder.reorder_incremental_state_scripting(state, torch.tensor(order))
    return decoding, before


def addresses(decoding: Decoding) -> list[int]:
    buffers = [room for cache in decoding.target for room in cache.buffers]
    values = [source.held.parts[0] for source in decoding.source if source.held]
    return [tensor.data_ptr() for tensor in (*buffers, *values)]


def test_caches_stay_where_they_are_when_no_beam_moves() -> None:
    decoding, before = beams([0, 1, 2, 3, 4, 5])
    assert addresses(decoding) == before


def test_caches_stay_where_they_are_when_beams_move_within_sentences() -> None:
    decoding, before = beams([1, 1, 3, 2, 4, 4])
    layers = len(decoding.target)
    assert addresses(decoding) == before
    assert [len(source.held.parts[0]) for source in decoding.source if source.held] == [3] * layers  # not 6


def test_a_step_writes_into_the_room_there_is() -> None:
    model, state = build().eval(), {}
    encoder_out = model.encoder(SOURCE)
    model.decoder(PREVIOUS[:, :1], encoder_out, incremental_state=state)
    before = addresses(state["decoding"])
    for end in range(2, 6):
        model.decoder(PREVIOUS[:, :end], encoder_out, incremental_state=state)
    assert addresses(state["decoding"]) == before


def test_decoding_goes_on_when_the_room_is_full() -> None:
    model = build().eval()
    tokens = torch.randint(4, 12, (3, 80))
    encoder_out, state = model.encoder(SOURCE), {}
    steps = [model.decoder(tokens[:, :end], encoder_out, incremental_state=state)[0] for end in range(1, 81)]
    full, _ = model.decoder(tokens, encoder_out)
    torch.testing.assert_close(torch.cat(steps, 1), full, rtol=1e-4, atol=1e-5)


def test_a_loss_in_chunks_equals_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("realformer_nmt.training.fused_loss.LAUNCH_CHUNK", 4 * 9)  # four of ten tokens at a time
    features, weight, target = torch.randn(10, 5), torch.randn(9, 5), torch.randint(2, 9, (10,))
    target[3] = PAD
    fused_inputs, plain_inputs = ([value.clone().requires_grad_() for value in (features, weight)] for _ in range(2))
    loss, nll = ProjectedNLL.apply(*fused_inputs, target, 0.1, PAD)
    logits = plain_inputs[0] @ plain_inputs[1].t()
    uniform = 0.1 / 8
    expected_nll = torch.nn.functional.cross_entropy(logits, target, ignore_index=PAD, reduction="sum")
    smooth = -logits.log_softmax(-1)[target != PAD].sum()
    expected = (1 - 0.1 - uniform) * expected_nll + uniform * smooth
    (3 * loss).backward()
    (3 * expected).backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(nll, expected_nll)
    for one, other in zip(fused_inputs, plain_inputs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)
