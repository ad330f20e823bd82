"""Measurement of one model's attention over a text."""

import torch
from tqdm import tqdm

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.loaded_model import LoadedModel
from realformer_nmt.analysis.measures import alignment
from realformer_nmt.analysis.measures.heads import Heads
from realformer_nmt.analysis.measures.token_classes import TokenClasses
from realformer_nmt.analysis.text import Text, to
from realformer_nmt.checkpoints.inspection import Model
from realformer_nmt.common.terminal import printable


def device(cpu: bool) -> torch.device:
    return torch.device("cpu" if cpu or not torch.cuda.is_available() else "cuda")


def attention(subject: LoadedModel[Model], text: Text, links: list[alignment.Links] | None) -> Heads:
    """Measure the heads in one pass over the text, with a progress bar on a terminal."""
    model = subject.model
    device = next(model.parameters()).device
    sizes = {name: (len(parts), parts[0].score_source.heads) for name, parts in hooks.chains(model).items()}
    heads = Heads(sizes, TokenClasses(text.dictionaries, device), links)
    bar = tqdm(desc=printable(f"attention of {subject.name}"), total=len(text.indices), unit="sentence", disable=None)
    with bar, torch.no_grad(), hooks.attention(model, heads.see):
        for batch in text.batches():
            batch = to(batch, device)
            heads.begin(batch)
            model(**batch.inputs, features_only=True)
            bar.update(len(batch.indices))
    return heads
