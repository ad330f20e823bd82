"""Beam search of a tiny model before and after it is prepared for it, which must find the same."""

import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny import PAD, SOURCE, dictionary

from realformer_nmt.model.model import TranslationModel


def check_beams_stay(model: TranslationModel) -> None:
    sample = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1)}}
    search = SequenceGenerator([model], dictionary(), beam_size=3, max_len_b=8)
    before = search.generate([model], sample)
    model.make_generation_fast_(need_attn=False)
    for one, other in zip(before, search.generate([model], sample), strict=True):
        assert [beam["tokens"].tolist() for beam in one] == [beam["tokens"].tolist() for beam in other]
        torch.testing.assert_close(*(torch.stack([b["score"] for b in beams]) for beams in (one, other)))
