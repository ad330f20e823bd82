"""Measurement of one model's attention over a text."""

from collections.abc import Iterable

import torch
from tqdm import tqdm

from realformer_nmt.analysis import alignment, hooks
from realformer_nmt.analysis.heads import Heads
from realformer_nmt.analysis.loaded_model import Subject
from realformer_nmt.analysis.text import Batch, Text, to
from realformer_nmt.analysis.token_classes import TokenClasses
from realformer_nmt.checkpoints.inspection import Model
from realformer_nmt.common.terminal import printable


def device(cpu: bool) -> torch.device:
    return torch.device("cpu" if cpu or not torch.cuda.is_available() else "cuda")


def with_progress(batches: Iterable[Batch], name: str, sentences: int) -> Iterable[Batch]:
    """Yield the batches, with a progress bar of the sentences on a terminal."""
    with tqdm(desc=printable(name), total=sentences, unit="sentence", disable=None) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch.indices))


def attention(subject: Subject[Model], text: Text, links: list[alignment.Links] | None) -> Heads:
    """Measure the heads in one pass over the text."""
    model = subject.model
    device = next(model.parameters()).device
    sizes = {name: (len(parts), parts[0].score_source.heads) for name, parts in hooks.chains(model).items()}
    heads = Heads(sizes, TokenClasses(text.dictionaries, device), links)
    with torch.no_grad(), hooks.attention(model, heads.see):
        for batch in with_progress(text.batches(), f"attention of {subject.name}", len(text.indices)):
            batch = to(batch, device)
            heads.begin(batch)
            model(**batch.inputs, features_only=True)
    return heads
