"""Output of a stack as if it ended after a layer: the stream, read out as its topology does at the end."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.text import Text, device_of
from realformer_nmt.model.topologies.topology import Stream

# By side, of a batch without padding: N x C for each layer; layer 0 is the input of the first.
Readouts = dict[str, list[Tensor]]


@torch.no_grad()
def per_batch(model: nn.Module, text: Text) -> Iterator[Readouts]:
    """Yield the readouts of each batch of a text."""
    stacks = hooks.stacks(model)
    outputs: Readouts = {}
    masks: dict[str, Tensor] = {}  # by side, False at padding

    def see(side: str, _layer: int, stream: Stream) -> None:
        stack = stacks[side]
        outputs[side].append(stack.topology.leave(stream, stack.layer_norm)[masks[side]].float())

    for batch in text.batches(device_of(model)):
        masks |= {side: tokens.ne(text.pad) for side, tokens in batch.read.items()}
        outputs |= {side: [] for side in stacks}
        with hooks.streams(model, see):
            model(**batch.inputs, features_only=True)
        yield dict(outputs)
