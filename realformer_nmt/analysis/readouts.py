"""What a stack would give if it ended after a layer: the stream, read as its topology reads it out at the end."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from realformer_nmt.analysis import watching
from realformer_nmt.analysis.text import Text, to
from realformer_nmt.model.model import TranslationModel
from realformer_nmt.model.residual import Stream


class Readouts(NamedTuple):
    """Of a batch, without padding: a tensor N x C for each layer from 0, what enters."""

    encoder: list[Tensor]
    decoder: list[Tensor]


@torch.no_grad()
def of(model: TranslationModel, text: Text) -> Iterator[Readouts]:
    """A batch after the other."""
    place = next(model.parameters()).device
    for batch in text.batches():
        batch = to(batch, place)
        kept = {"encoder": batch.source.ne(text.pad), "decoder": batch.previous.ne(text.pad)}
        found: dict[str, list[Tensor]] = {side: [] for side in watching.SIDES}

        def see(side: str, _layer: int, stream: Stream, kept: dict = kept, found: dict = found) -> None:
            stack = getattr(model, side)
            found[side].append(stack.topology.leave(stream, stack.layer_norm)[kept[side]].float())

        with watching.streams(model, see):
            model(batch.source, None, batch.previous, features_only=True)
        yield Readouts(**found)
