"""Output of a stack as if it ended after a layer: the stream, read out as its topology does at the end."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.text import Batch, Text, to
from realformer_nmt.model.topology import Stream

# By side, of a batch without padding: N x C for each layer; layer 0 is the input of the first.
Readouts = dict[str, list[Tensor]]


@torch.no_grad()
def per_batch(model: nn.Module, text: Text) -> Iterator[Readouts]:
    """Yield the readouts of each batch of a text."""
    device = next(model.parameters()).device
    for batch in text.batches():
        yield of_batch(model, to(batch, device), text.pad)


def of_batch(model: nn.Module, batch: Batch, pad: int) -> Readouts:
    stacks = hooks.stacks(model)
    masks = {side: tokens.ne(pad) for side, tokens in batch.read.items()}
    outputs: Readouts = {side: [] for side in stacks}

    def see(side: str, _layer: int, stream: Stream) -> None:
        stack = stacks[side]
        outputs[side].append(stack.topology.leave(stream, stack.layer_norm)[masks[side]].float())

    with hooks.streams(model, see):
        model(**batch.inputs, features_only=True)
    return outputs
