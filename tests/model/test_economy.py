"""Speed rests on few operations, synchronisations, arrays kept and caches copied: they are counted, not timed."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from programs import commands
from programs.program import REPOSITORY
from tiny_models.tiny import PREVIOUS, SOURCE, build, profiled
from torch.utils._python_dispatch import TorchDispatchMode

from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.precision import supported
from realformer_nmt.kernels.topk_logits import log_of_sum
from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.presets import FAMILIES

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
    python = commands.python_of_forks()  # which has imported fairseq alone
    done = commands.run([python, "-c", program], environment={"PYTHONPATH": str(REPOSITORY)})
    modules = done.stdout.splitlines()[-1].split()
    assert {module.partition(".")[0] for module in modules} == {"realformer_nmt"}


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


def test_only_a_processors_softmax_is_cut_to_fit_its_cache() -> None:
    logits = torch.empty(1280, 2**15, device="meta")
    assert operations(partial(log_of_sum, logits, logits[:, :1]))["exp_"] == 1


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


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [1, 1, 3, 2, 4, 4]], ids=str)
def test_caches_stay_where_they_are_when_no_beam_moves_to_another_sentence(order: list[int]) -> None:
    decoding, before = beams(order)
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
