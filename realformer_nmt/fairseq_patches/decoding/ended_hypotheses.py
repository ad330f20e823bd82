"""Hypotheses of a beam search that have ended, in a table of a fixed size, and as fairseq returns them."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from realformer_nmt.model.attention.static_cache import StaticLineage

Hypotheses = list[list[dict[str, Tensor]]]  # of each sentence, the best first: what fairseq's generators return


class EndedHypotheses(NamedTuple):
    """Table of the first hypotheses of each sentence that have ended, one per beam, and a column for all later ones."""

    number: Tensor  # B x 1
    steps: Tensor  # at which they ended: B x beams + 1
    sums: Tensor  # of log-probabilities: B x beams + 1
    origin: Tensor  # their lineages: B x beams + 1 x T

    @classmethod
    def build(cls, lineage: StaticLineage) -> "EndedHypotheses":
        sentences, beams, length = lineage.origin.shape
        shapes = ((sentences, 1), (sentences, beams + 1), (sentences, beams + 1, length))
        number, steps, origin = (lineage.origin.new_zeros(shape) for shape in shapes)
        return cls(number, steps, steps.float(), origin)

    def add(self, ends: Tensor, sums: Tensor, lineage: StaticLineage, beams: Tensor) -> None:
        """Add those of the beams that end now; all arguments but the lineage are B x beams."""
        rest = ends.size(1)
        slots = (self.number + ends.cumsum(1) - 1).masked_fill_(~ends, rest).clamp_(max=rest)
        self.steps.scatter_(1, slots, lineage.step.expand_as(slots))
        self.sums.scatter_(1, slots, sums)
        self.origin.scatter_(1, slots.unsqueeze(-1).expand(-1, -1, self.origin.size(2)), lineage.of(beams))
        self.number.add_(ends.sum(1, keepdim=True)).clamp_(max=rest)

    def on_cpu(self, sentences: int) -> "EndedHypotheses":
        """Copy those of the first sentences."""
        return EndedHypotheses._make(tensor[:sentences].to("cpu", copy=True) for tensor in self)

    def sentences(self, words: Tensor, sums: Tensor, eos: int, penalty: float | None) -> Hypotheses:
        """Return those of each sentence, of the words read and the sums until them, B x beams x T each, on the CPU."""
        steps, totals, lineages = self.steps[:, :-1], self.sums[:, :-1], self.origin[:, :-1].clamp(min=0)
        words, sums = (pad(each.gather(1, lineages), (0, 1)) for each in (words, sums))
        lengths = steps + 1
        words.scatter_(2, lengths.unsqueeze(-1), eos)
        sums.scatter_(2, lengths.unsqueeze(-1), totals.unsqueeze(-1))
        scores = totals if penalty is None else totals / (lengths.double() ** penalty).float()
        rows = zip(self.number[:, 0].tolist(), lengths.tolist(), words, scores, sums.diff(), strict=True)
        return [best_first(*row) for row in rows]


def best_first(
    number: int, lengths: list[int], words: Tensor, scores: Tensor, parts: Tensor
) -> list[dict[str, Tensor]]:
    """Return so many hypotheses of a sentence, the best first: a word and its log-probability per column of a beam."""
    return [
        {
            "tokens": words[beam, 1 : lengths[beam] + 1],
            "score": scores[beam],
            "attention": torch.empty(0),
            "alignment": torch.empty(0),
            "positional_scores": parts[beam, : lengths[beam]],
        }
        for beam in scores[:number].argsort(descending=True).tolist()
    ]
