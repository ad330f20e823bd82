"""One sentence, its translation where the model translates, and how every head attends while it reads and writes."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn

from realformer_nmt.analysis import watching
from realformer_nmt.analysis.one_text import OneText
from realformer_nmt.analysis.text import Batch, Text, collate, to
from realformer_nmt.analysis.watching import CHAINS, CROSS
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import preparation
from realformer_nmt.model.model import TranslationModel

BEAM, LONGEST = 4, {"max_len_a": 1.5, "max_len_b": 10}  # a model that repeats itself ends there


class Attended(NamedTuple):
    """Of a chain: what attends, what is attended to, and the heads of each layer from the first on, H x T x S."""

    queries: list[str]
    keys: list[str]
    layers: list[Tensor]


class Sentence(NamedTuple):
    source: list[str]  # pieces, ends included
    target: list[str]
    chains: dict[str, Attended]


def pieces(raw: str, data: Path) -> str:
    """As the model reads them: by the subwords of the folder that `realformer-nmt prepare` made, in which the data-bin
    lies; elsewhere what is given are pieces."""
    line = " ".join(raw.split())
    if (data.parent / "prepare.json").is_file():
        (line,) = preparation.read(data.parent).pieces(f"{line}\n".encode())
    if not line:
        raise UserError("--sentence is empty: give a sentence of the source language")
    return line


def translate(model: TranslationModel, source: Tensor, words: Dictionary) -> Tensor:
    """The best of a beam, its end included."""
    generator = SequenceGenerator([model], words, beam_size=BEAM, **LONGEST)
    sample = {"net_input": {"src_tokens": source.unsqueeze(0), "src_lengths": torch.tensor([len(source)])}}
    tokens: Tensor = generator.generate([model], sample)[0][0]["tokens"]
    return tokens


def study_read(model: Any, text: OneText, line: str) -> Sentence:
    """Of a model of one side, which reads it as it stands."""
    tokens = text.tokens(line)
    demand_room(tokens.size(1), model.max_positions())
    read = [text.dictionaries[0][number] for number in tokens[0].tolist()]
    layers = seen(model, Batch([0], {text.side: tokens}, tokens))
    return Sentence(read, [], {chain: Attended(read, read, heads) for chain, heads in layers.items()})


def study(model: TranslationModel, text: Text, line: str) -> Sentence:
    place = next(model.parameters()).device
    source_words, target_words = text.dictionaries
    source = source_words.encode_line(line, add_if_not_exist=False).long()
    demand_room(len(source), model.max_positions()[0])
    target = translate(model, source.to(place), target_words).cpu()
    return attention(model, text.dictionaries, source, target)


def demand_room(tokens: int, limit: int) -> None:
    if tokens > limit:
        raise UserError(f"--sentence has {tokens} tokens, and the model room for {limit}: give a shorter one")


def seen(model: nn.Module, batch: Batch) -> dict[str, list[Tensor]]:
    """By chain, the heads of each layer over the first sentence of a batch."""
    layers: dict[str, list[Tensor]] = defaultdict(list)
    batch = to(batch, next(model.parameters()).device)
    with torch.no_grad(), watching.attention(model, lambda chain, _layer, heads: layers[chain].append(heads[0].cpu())):
        model(**batch.inputs, features_only=True)
    return layers


def attention(model: TranslationModel, dictionaries: Sequence[Dictionary], source: Tensor, target: Tensor) -> Sentence:
    """While the model reads the one and writes the other, ends included."""
    source_words, target_words = dictionaries
    batch = collate([0], [source], [target], target_words)
    layers = seen(model, batch)
    read = [source_words[number] for number in source.tolist()]
    before, after = (
        [target_words[number] for number in tokens[0].tolist()] for tokens in (batch.previous, batch.target)
    )
    labels = {"encoder": (read, read), "decoder": (before, before), CROSS: (after, read)}
    return Sentence(read, after, {chain: Attended(*labels[chain], layers[chain]) for chain in CHAINS})
