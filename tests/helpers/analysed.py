"""Tiny models of the toy corpus, and some of its text, for the analyses."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from tiny import SIZE

from realformer_nmt.analysis import text
from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.model.model import TranslationModel
from realformer_nmt.model.skeleton import skeleton


def some(data: Path, sentences: int = 24) -> Text:
    return text.read(data, "valid", sentences)


def model(of: Text, **options: Any) -> TranslationModel:
    """Of 2+2 layers, without dropout, in evaluation mode."""
    torch.manual_seed(1)
    sizes = [len(words) for words in of.dictionaries]
    return skeleton(Namespace(**(SIZE | {"dropout": 0.0, "score_length": 12} | options)), *sizes).eval()


def idle(built: TranslationModel) -> TranslationModel:
    """With branches that add nothing, so that every layer passes on what it gets."""
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if "out_proj" in name or "fc2" in name:
                parameter.zero_()
    return built


def whole(of: Text) -> Batch:
    """All of it in one batch."""
    (batch,) = of.batches()
    return batch
