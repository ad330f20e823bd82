"""An answer may begin and end at some positions of a text alone."""

import torch

from realformer_nmt.single_stack.span_head import SpanHead

LENGTHS, CONTEXT = torch.tensor([5, 6, 4]), torch.tensor([2, 3, 3])
POSSIBLE = [{0, 2, 3}, {0, 3, 4}, {0}]  # the first, and from the context on before the end; the third has no context


def test_only_the_context_and_the_first_position_are_possible() -> None:
    head, features = SpanHead(8), torch.randn(3, 6, 8)
    logits = head.logits(features, LENGTHS, CONTEXT)
    plain = features @ head.weight.T + head.bias
    for text, possible in enumerate(POSSIBLE):
        for place in range(6):
            expected = plain[text, place] if place in possible else torch.tensor([-torch.inf, -torch.inf])
            torch.testing.assert_close(logits[text, place], expected)
