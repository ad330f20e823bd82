"""One sentence, its translation if the model translates, and the attention of every head to it."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.hooks import CHAINS, CROSS
from realformer_nmt.analysis.text import Batch, Text, collate, device_of
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.data_bins.file_checks import NAME
from realformer_nmt.model.models.model import TranslationModel

BEAM, LONGEST = 4, {"max_len_a": 1.5, "max_len_b": 10}  # fairseq's options; they end a translation that repeats itself


class SentenceAttention(NamedTuple):
    """Attention of one chain: the words that attend, the words attended to, and by layer the heads, H x T x S."""

    queries: list[str]
    keys: list[str]
    layers: list[Tensor]


class Sentence(NamedTuple):
    source: list[str]  # subwords, end symbols included
    target: list[str]
    chains: dict[str, SentenceAttention]


def subwords(raw: str, data: Path) -> str:
    """Return the sentence as the model reads it, in subwords.

    A data-bin, or a link to one, in a folder of `realformer-nmt prepare` has its subword model there; for any other
    data-bin the sentence must already be in subwords.
    """
    line = " ".join(raw.split())
    folders = (data.absolute().parent, data.resolve().parent)
    prepared = next((folder for folder in folders if (folder / NAME).is_file()), None)
    if prepared:
        (line,) = text_pipeline.read(prepared).pieces(f"{line}\n".encode())
    if not line:
        raise UserError("--sentence is empty: give a sentence of the source language")
    return line


def translate(model: TranslationModel, source: Tensor, words: Dictionary) -> Tensor:
    """Return the best translation of a beam search, end symbol included."""
    generator = SequenceGenerator([model], words, beam_size=BEAM, **LONGEST)
    sample = {"net_input": {"src_tokens": source.unsqueeze(0), "src_lengths": torch.tensor([len(source)])}}
    tokens: Tensor = generator.generate([model], sample)[0][0]["tokens"]
    return tokens


def study(model: TranslationModel, text: Text, line: str) -> Sentence:
    source_words, target_words = text.dictionaries
    source = source_words.encode_line(line, add_if_not_exist=False).long()
    check_room(len(source), model.max_positions()[0])
    target = translate(model, source.to(device_of(model)), target_words).cpu()
    return attention(model, text.dictionaries, source, target)


def check_room(tokens: int, limit: int) -> None:
    if tokens > limit:
        raise UserError(f"--sentence has {tokens} tokens, and the model has room for {limit}: give a shorter one")


def attention_by_chain(model: nn.Module, batch: Batch) -> dict[str, list[Tensor]]:
    """Return by chain the heads of each layer, over the first sentence of a batch."""
    layers: dict[str, list[Tensor]] = defaultdict(list)

    def see(chain: str, _layer: int, heads: Tensor) -> None:
        layers[chain].append(heads[0].cpu())

    with torch.no_grad(), hooks.attention(model, see):
        model(**batch.to(device_of(model)).inputs, features_only=True)
    return layers


def attention(model: TranslationModel, dictionaries: Sequence[Dictionary], source: Tensor, target: Tensor) -> Sentence:
    """Return the attention while the model reads a source and writes a target, end symbols included."""
    source_words, target_words = dictionaries
    batch = collate([0], [source], [target], target_words)
    layers = attention_by_chain(model, batch)
    read = [source_words[number] for number in source.tolist()]
    previous = [target_words[number] for number in batch.previous[0].tolist()]
    written = [target_words[number] for number in batch.target[0].tolist()]
    labels = {"encoder": (read, read), "decoder": (previous, previous), CROSS: (written, read)}
    return Sentence(read, written, {chain: SentenceAttention(*labels[chain], layers[chain]) for chain in CHAINS})
