"""Beam search of a tiny model before and after it is prepared for it, which must find the same."""

from typing import NamedTuple

import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.tiny import PAD, SOURCE, dictionary

from realformer_nmt.model.models.model import TranslationModel


class Beams(NamedTuple):
    tokens: list[list[int]]
    scores: torch.Tensor


def beams_before_and_after(model: TranslationModel) -> tuple[Beams, Beams]:
    """Return what beam search finds before and after a model is prepared for it."""
    sample = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1)}}
    search = SequenceGenerator([model], dictionary(), beam_size=3, max_len_b=8)
    before = beams(search.generate([model], sample))
    model.make_generation_fast_(need_attn=False)
    return before, beams(search.generate([model], sample))


def beams(hypotheses: list[list[dict[str, torch.Tensor]]]) -> Beams:
    every = [beam for of_sentence in hypotheses for beam in of_sentence]
    return Beams([beam["tokens"].tolist() for beam in every], torch.stack([beam["score"] for beam in every]))
