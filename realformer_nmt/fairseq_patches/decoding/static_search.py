"""Beam search in tensors of fixed sizes, which asks the device nothing: its steps can be recorded and replayed.

Keys, words and sums of scores stay where a beam has written them; a lineage has the positions of each hypothesis.
Sentences that are finished go on, but nothing of them is kept.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from realformer_nmt.model.attention.static_cache import StaticDecoding, StaticLineage
from realformer_nmt.model.decoder import Decoder

Hypotheses = list[list[dict[str, Tensor]]]  # of each sentence, the best first: what fairseq's generators return


class SearchRules(NamedTuple):
    """Rules by which a search chooses words and ends hypotheses, of the names in fairseq's SequenceGenerator."""

    beams: int
    pad: int
    eos: int
    unk: int
    min_len: int
    unk_penalty: float
    temperature: float
    len_penalty: float | None  # None: scores are sums, whatever the length

    @property
    def special(self) -> int:
        """Return the number of special words, the vocabulary's first."""
        return 1 + max(self.pad, self.eos, self.unk)

    def scores(self, sums: Tensor, lengths: Tensor) -> Tensor:
        return sums if self.len_penalty is None else sums / (lengths.double() ** self.len_penalty).float()


class SearchSizes(NamedTuple):
    sentences: int
    source: int
    target: int


class EncodedBatch(NamedTuple):
    """Encoded sources, the word that every hypothesis starts with, and the length at which it must end."""

    memory: Tensor  # B x S x C
    padding: Tensor  # B x S
    start: int
    limit: int


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


class StaticSearch:
    """Beam search of a batch by fairseq's rules (sequence_generator.py), over a shortlist of words per beam."""

    def __init__(self, decoder: Decoder, rules: SearchRules, sizes: SearchSizes, memory: Tensor) -> None:
        self.rules, device = rules, memory.device
        self.memory = memory.new_zeros(sizes.sentences, sizes.source, memory.size(2))
        self.padding = torch.zeros(self.memory.shape[:2], dtype=torch.bool, device=device)
        self.lineage = StaticLineage.build(sizes.sentences, rules.beams, sizes.target, device)
        self.limit = torch.zeros_like(self.lineage.step)
        self.words = torch.zeros_like(self.lineage.origin)  # that beams read: B x beams x T
        self.sums = self.words.float()  # of log-probabilities until these: B x beams x T
        self.word, self.sum = self.words[:, :, 0].clone(), self.sums[:, :, 0].clone()  # of the next step
        self.ignored = torch.zeros_like(self.word, dtype=torch.bool)  # beams that have ended
        self.ended = EndedHypotheses.build(self.lineage)
        self.decoding = StaticDecoding(len(decoder.layers), self.lineage)

    def tensors(self) -> Iterator[Tensor]:
        yield from (self.memory, self.padding, self.limit, self.words, self.sums, self.word, self.sum, self.ignored)
        yield from (*self.lineage, *self.ended, *self.decoding.tensors())

    def begin(self, batch: EncodedBatch) -> None:
        """Start with a batch; rows that it does not fill see the same zeros everywhere, and are finished."""
        sentences, source, _ = batch.memory.shape
        self.lineage.clear()
        self.memory.zero_()[:sentences, :source] = batch.memory
        self.padding.fill_(True)[:sentences, :source] = batch.padding
        self.padding[sentences:] = False
        self.limit.fill_(batch.limit)
        self.word.fill_(batch.start)
        self.sum.fill_(-torch.inf)[:, 0] = 0  # all beams of a sentence are the same at first
        self.ignored.fill_(False)
        self.ended.number.fill_(self.rules.beams)[:sentences] = 0

    def go_on_from(self, smaller: "StaticSearch") -> None:
        """Take over the state of a search with room for fewer positions."""
        self.lineage.clear()
        for tensor, part in zip(self.tensors(), smaller.tensors(), strict=True):
            tensor[tuple(map(slice, part.shape))] = part

    def first_step(self, decoder: Decoder) -> None:
        self.decoding.forget_sources()
        self.step(decoder)

    def step(self, decoder: Decoder) -> None:
        """Write a position, and choose the words of the next."""
        self.lineage.write()
        for written, value in ((self.words, self.word), (self.sums, self.sum)):
            written.index_copy_(2, self.lineage.step, value.unsqueeze(-1))
        sums, words, beams = self._candidates(decoder)  # B x 2 * beams each, the best first
        ends = words.eq(self.rules.eos) & ~sums.isneginf()
        first = slice(self.rules.beams)  # only these may end
        ends[:, first].logical_and_(~self.ignored)
        self.ended.add(ends[:, first], sums[:, first], self.lineage, beams[:, first])
        ends[:, first].logical_or_(self.ignored)
        self._continue(ends, sums, words, beams)

    def _candidates(self, decoder: Decoder) -> tuple[Tensor, Tensor, Tensor]:
        lprobs, words = self._shortlist(decoder)  # rows x columns
        sentences, beams = self.word.shape
        sums = lprobs.view(sentences, beams, -1) + self.sum.unsqueeze(-1)
        best, columns = sums.flatten(1).topk(2 * beams)
        return best, words.view(sentences, -1).gather(1, columns), columns // lprobs.size(1)

    def _shortlist(self, decoder: Decoder) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of each beam's best words, as the rules change them, and these words."""
        rules, step = self.rules, self.lineage.step
        best = decoder.best_words(self._features(decoder), rules.special, 2 * rules.beams, rules.temperature)
        lprobs, words = best.shortlist()
        lprobs.masked_fill_(lprobs.isnan(), -torch.inf)
        lprobs[:, rules.pad].fill_(-torch.inf)
        lprobs[:, rules.unk].sub_(rules.unk_penalty)
        ends = words.eq(rules.eos)
        lprobs.masked_fill_(~ends & (step >= self.limit), -torch.inf)
        return lprobs.masked_fill_(ends & (step < rules.min_len), -torch.inf), words

    def _features(self, decoder: Decoder) -> Tensor:
        """Run the decoder's layers on the words of all beams: rows x C."""
        table = decoder.position_table()
        position = None if table is None else table.index_select(0, self.lineage.step)
        x = decoder.embed(self.word.view(-1, 1), position)
        masks = (self.lineage.mask(), self.padding[:, None, None])
        x, _ = decoder.write(x, self.memory, masks, self.decoding.layers(), self.rules.beams)
        return x[:, -1]

    def _continue(self, ends: Tensor, sums: Tensor, words: Tensor, beams: Tensor) -> None:
        """Continue the best candidates that do not end; if there are too few, others stand in, ignored."""
        candidates = ends.size(1)
        order = ends * candidates + torch.arange(candidates, device=ends.device)
        smallest, active = order.topk(self.rules.beams, largest=False)
        self.ignored.copy_(smallest >= candidates)
        self.word.copy_(words.gather(1, active))
        self.sum.copy_(sums.gather(1, active))
        self.lineage.advance(beams.gather(1, active))

    def is_over(self) -> bool:
        """Ask the device whether every sentence has all its hypotheses."""
        return bool((self.ended.number == self.rules.beams).all())

    def hypotheses(self, sentences: int) -> Hypotheses:
        """Read the hypotheses of the first sentences, on the CPU, whatever the device."""
        number, steps, sums, origin = (tensor[:sentences].to("cpu", copy=True) for tensor in self.ended)
        steps, sums, lineages = (
            steps[:, :-1],
            sums[:, :-1],
            origin[:, :-1].clamp_(min=0),
        )
        read = (pad(each[:sentences].cpu().gather(1, lineages), (0, 1)) for each in (self.words, self.sums))
        ends = steps.unsqueeze(-1) + 1
        words, totals = next(read).scatter_(2, ends, self.rules.eos), next(read).scatter_(2, ends, sums.unsqueeze(-1))
        table = HypothesisTable(steps, words, self.rules.scores(sums, steps + 1), totals.diff())
        return [table.sentence(row, count) for row, count in enumerate(number[:, 0].tolist())]


class HypothesisTable(NamedTuple):
    """Hypotheses of a batch on the CPU."""

    steps: Tensor  # at which they ended: B x beams
    words: Tensor  # from the first that was read: B x beams x T + 1
    scores: Tensor  # B x beams
    parts: Tensor  # log-probability of each word: B x beams x T

    def sentence(self, row: int, count: int) -> list[dict[str, Tensor]]:
        order: list[int] = self.scores[row, :count].argsort(descending=True).tolist()
        return [self.hypothesis(row, beam, int(self.steps[row, beam]) + 1) for beam in order]

    def hypothesis(self, row: int, beam: int, length: int) -> dict[str, Tensor]:
        return {
            "tokens": self.words[row, beam, 1 : length + 1],
            "score": self.scores[row, beam],
            "attention": torch.empty(0),
            "alignment": torch.empty(0),
            "positional_scores": self.parts[row, beam, :length],
        }
