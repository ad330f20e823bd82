"""Beam search as fairseq-generate runs it."""

from collections.abc import Callable

import torch
from contestants import STOCK, Place, Sample, Shape, build, task
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from realformer_nmt.fairseq_patches.shortlist import ShortlistGenerator


def generator(
    who: str, shape: Shape, place: Place, samples: list[Sample], beam: int, weights: nn.Module | None = None
) -> Callable[[], int]:
    """One call translates the samples, each to hypotheses of the length of its sources; their number of tokens. `who`
    may name a precision too: post_ln, int8. The weights are those of a model, as far as the family has the same."""
    family, _, precision = who.partition(", ")
    model = build(family, shape, place).eval()
    if weights is not None:
        nn.Module.load_state_dict(model, weights.state_dict(), strict=False)
    options = {"precision": precision} if precision else {}
    model.make_generation_fast_(beamable_mm_beam_size=None, need_attn=False, **options)
    kind = SequenceGenerator if family == STOCK else ShortlistGenerator
    words = task(shape.vocabulary).target_dictionary

    def generate() -> int:
        written = 0
        for sample in samples:
            longest = sample["net_input"]["src_tokens"].size(1)
            search = kind([model], words, beam_size=beam, max_len_a=0, max_len_b=longest, min_len=longest - 1)
            with torch.no_grad():
                found = search.generate([model], {"net_input": {**sample["net_input"], "prev_output_tokens": None}})
            written += sum(len(hypotheses[0]["tokens"]) for hypotheses in found)
        return written

    return generate
