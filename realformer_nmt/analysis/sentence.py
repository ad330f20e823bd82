"""One sentence: its translation, and how every head attends while the model reads and writes it."""

from pathlib import Path
from typing import NamedTuple

import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from realformer_nmt.analysis import watching
from realformer_nmt.analysis.text import Text, collate, to
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


def study(model: TranslationModel, text: Text, line: str) -> Sentence:
    place = next(model.parameters()).device
    source_words, target_words = text.dictionaries
    source = source_words.encode_line(line, add_if_not_exist=False).long()
    limit = model.max_positions()[0]
    if len(source) > limit:
        raise UserError(f"--sentence has {len(source)} tokens, and the model room for {limit}: give a shorter one")
    target = translate(model, source.to(place), target_words).cpu()
    return attention(model, text.dictionaries, source, target)


def attention(
    model: TranslationModel, dictionaries: tuple[Dictionary, Dictionary], source: Tensor, target: Tensor
) -> Sentence:
    """While the model reads the one and writes the other, ends included."""
    source_words, target_words = dictionaries
    batch = to(collate([0], [source], [target], target_words), next(model.parameters()).device)
    layers: dict[str, list[Tensor]] = {chain: [] for chain in CHAINS}
    with torch.no_grad(), watching.attention(model, lambda chain, _layer, seen: layers[chain].append(seen[0].cpu())):
        model(batch.source, None, batch.previous, features_only=True)
    read = [source_words[number] for number in source.tolist()]
    before, after = (
        [target_words[number] for number in tokens[0].tolist()] for tokens in (batch.previous, batch.target)
    )
    labels = {"encoder": (read, read), "decoder": (before, before), CROSS: (after, read)}
    return Sentence(read, after, {chain: Attended(*labels[chain], layers[chain]) for chain in CHAINS})
