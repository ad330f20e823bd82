"""What a stack would give if it ended after a layer: the stream, read as its topology reads it out at the end."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from realformer_nmt.analysis import watching
from realformer_nmt.analysis.text import Text, to
from realformer_nmt.model.residual import Stream

Readouts = dict[str, list[Tensor]]  # by side, of a batch without padding: N x C for each layer from 0, what enters


@torch.no_grad()
def of(model: nn.Module, text: Text) -> Iterator[Readouts]:
    """A batch after the other."""
    place, stacks = next(model.parameters()).device, watching.stacks(model)
    for batch in text.batches():
        batch = to(batch, place)
        kept = {side: tokens.ne(text.pad) for side, tokens in batch.read.items()}
        found: Readouts = {side: [] for side in stacks}

        def see(side: str, _layer: int, stream: Stream, kept: dict = kept, found: dict = found) -> None:
            stack = stacks[side]
            found[side].append(stack.topology.leave(stream, stack.layer_norm)[kept[side]].float())

        with watching.streams(model, see):
            model(**batch.inputs, features_only=True)
        yield found
