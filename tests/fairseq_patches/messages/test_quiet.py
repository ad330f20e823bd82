"""Warnings of fairseq that nobody can act on are not shown."""

import warnings

import torch
from fairseq.data import TokenBlockDataset

from realformer_nmt.fairseq_patches.messages import quiet


def warned(filtered: bool) -> list[str]:
    """Return the warnings of a text whose first line is empty, cut as a language model reads it."""
    lines = [torch.tensor([2]), torch.tensor([5, 2])]
    blocks = TokenBlockDataset(lines, [1, 2], 8, pad=1, eos=2, break_mode="eos", include_targets=True)
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        if filtered:
            quiet.quieten_warnings()
        source, target, _ = blocks[0]
    assert (source.tolist(), target.tolist()) == ([2], [2])
    return [str(each.message) for each in messages]


def test_an_empty_first_line_is_nothing_to_warn_of() -> None:
    assert any("overflow" in message for message in warned(False))
    assert warned(True) == []
