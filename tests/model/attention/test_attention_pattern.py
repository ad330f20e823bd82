"""Patterns of attention against full attention under the same mask, which is written out by hand."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.attention_pattern import Full, GlobalLocal, Local, Pattern, View
from realformer_nmt.model.attention.cache import KeysValues
from realformer_nmt.model.attention.carry import CARRIES, Carried
from realformer_nmt.model.attention.relative_positions import RelativePositions
from realformer_nmt.model.attention.scores import build_source
from realformer_nmt.model.scaling import Gains

HEADS, WIDTH = 2, 8
LENGTHS = (11, 6)  # of two texts in a batch
PADDING = torch.tensor([[place >= length for place in range(max(LENGTHS))] for length in LENGTHS])[:, None, None]
PATTERNS = {f"window {window}": Local(window) for window in (1, 3, 4, 30)} | {
    f"window {window}, {first} global": GlobalLocal(window, first)
    for window, first in ((1, 1), (3, 2), (4, 4), (2, 8), (1, 30), (30, 2))
}


def may_look(pattern: Pattern, query: int, key: int) -> bool:
    near = abs(query - key) <= pattern.window
    return near or (isinstance(pattern, GlobalLocal) and min(query, key) < pattern.global_tokens)


class Masked(Full):
    """Full attention under the mask of another pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]:
        places = range(seen.length)
        hidden = torch.tensor([[not may_look(self.pattern, i, j) for j in places] for i in places])
        padding = torch.zeros_like(hidden) if mask is None else mask & ~torch.eye(seen.length, dtype=torch.bool)
        return [View(query, seen, hidden | padding)]


def layers(carry: str, reach: int = 0) -> list[SelfAttention]:
    torch.manual_seed(4)
    source = build_source("dot", HEADS, WIDTH // HEADS, 1)
    options = {"memory_width": WIDTH, "dropout": 0.0, "gains": Gains()}
    stack = [
        SelfAttention(
            source,
            CARRIES[carry],
            depth,
            **options,
            positions=RelativePositions(WIDTH // HEADS, reach) if reach else None,
        )
        for depth in (1, 2, 3)
    ]
    for parameter in (parameter for layer in stack for parameter in layer.parameters()):
        torch.nn.init.normal_(parameter, std=0.4)
    return stack


def run(
    stack: Sequence[SelfAttention], pattern: Pattern, weights: bool, mask: Tensor | None = PADDING
) -> tuple[Tensor, tuple[Tensor, ...], list[Tensor | None]]:
    """Return what comes out of texts, every gradient, and what each layer shows of its attention."""
    torch.manual_seed(5)
    x = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, requires_grad=True)
    output, carried, shown = x, (), []
    for layer in stack:
        layer.pattern = pattern
        attended = layer(output, output, mask, carried, weights=weights)
        output, carried = attended.output, attended.carried
        shown.append(attended.probabilities)
    of_texts = output[~PADDING[:, 0, 0]]
    parameters = [parameter for layer in stack for parameter in layer.parameters()]
    return of_texts, torch.autograd.grad(of_texts.square().mean(), [x, *parameters]), shown


def close(ones: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    pairs = list(zip(ones, expected, strict=True))
    return bool(pairs) and all(torch.allclose(one, other, rtol=1e-4, atol=1e-5) for one, other in pairs)


@pytest.mark.parametrize("reach", [0, 2])
@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_outputs_and_gradients_are_those_of_full_attention_under_the_mask(
    pattern: Pattern, carry: str, reach: int
) -> None:
    stack = layers(carry, reach)
    output, gradients, _ = run(stack, pattern, weights=False)
    expected, of_expected, _ = run(stack, Masked(pattern), weights=False)
    assert close([output, *gradients], [expected, *of_expected])


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_attention_is_shown_as_one_matrix(pattern: Pattern) -> None:
    stack = layers("sum")
    shown, expected = (run(stack, each, weights=True)[2] for each in (pattern, Masked(pattern)))
    rows = ~PADDING[:, 0, 0]
    assert close(*([layer.transpose(1, 2)[rows] for layer in of if layer is not None] for of in (shown, expected)))


@pytest.mark.parametrize("pattern", [Local(16), GlobalLocal(16, 4)])
def test_work_and_what_is_carried_grow_with_length_times_window(pattern: Pattern) -> None:
    (layer, *_), counted = layers("sum"), []
    layer.pattern = pattern
    for length in (160, 320):
        with FlopCounterMode(display=False) as counter:
            attended = layer(*[torch.zeros(1, length, WIDTH)] * 2, None, weights=False)
        counted.append([counter.get_total_flops(), *(total.numel() for total in attended.carried)])
    assert [more / less for less, more in zip(*counted, strict=True)] == [2, 2]


def test_a_carry_meets_heads_where_it_always_does() -> None:
    """A carry of one's own may treat heads differently."""

    class PerHead(type(CARRIES["sum"])):
        def scores(self, raw: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
            return super().scores(raw * torch.arange(1.0, 1 + HEADS)[:, None, None], carried, depth)

    stack = layers("sum")
    for layer in stack:
        layer.carry = PerHead()
    output, expected = (run(stack, each, weights=False)[0] for each in (GlobalLocal(2, 2), Masked(GlobalLocal(2, 2))))
    assert close([output], [expected])


@pytest.mark.parametrize("pattern", [Local(3), GlobalLocal(3, 2)])
def test_without_a_mask_nothing_is_padding(pattern: Pattern) -> None:
    output, expected = (run(layers("mean"), each, weights=False, mask=None)[0] for each in (pattern, Masked(pattern)))
    assert close([output], [expected])
