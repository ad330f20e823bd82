"""Beam search in tensors of fixed sizes, which asks the device nothing: its steps can be recorded and replayed.

Keys, words and sums of scores stay where a beam has written them; a lineage has the positions of each hypothesis.
Sentences that are finished go on, but nothing of them is kept.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from realformer_nmt.fairseq_patches.decoding.ended_hypotheses import EndedHypotheses, Hypotheses
from realformer_nmt.model.attention.static_cache import StaticDecoding, StaticLineage
from realformer_nmt.model.decoder import Decoder


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
    forced: bool = False  # whether the first word of each sentence is given

    @property
    def special(self) -> int:
        """Return the number of special words, the vocabulary's first."""
        return 1 + max(self.pad, self.eos, self.unk)


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
    forced: Tensor | None = None  # the first word of each sentence, if it is given: B x 1


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
        self.forced = self.words[:, 0, :1].clone()
        self.ended = EndedHypotheses.build(self.lineage)
        self.decoding = StaticDecoding(len(decoder.layers), self.lineage)

    def tensors(self) -> Iterator[Tensor]:
        yield from (self.memory, self.padding, self.limit, self.words, self.sums, self.word, self.sum)
        yield from self.lineage
        yield from self.ended
        yield from self.decoding.tensors()

    def begin(self, batch: EncodedBatch) -> None:
        """Start with a batch; rows that it does not fill are of padding alone, and finished."""
        sentences, source, _ = batch.memory.shape
        self.lineage.clear()
        self.memory.zero_()[:sentences, :source] = batch.memory
        self.padding.fill_(True)[:sentences, :source] = batch.padding
        self.limit.fill_(batch.limit)
        self.word.fill_(batch.start)
        self.sum.fill_(-torch.inf)[:, 0] = 0  # all beams of a sentence are the same at first
        self.ended.number.fill_(self.rules.beams)[:sentences] = 0
        if batch.forced is not None:
            self.forced[:sentences] = batch.forced

    def go_on_from(self, smaller: "StaticSearch") -> None:
        """Take over the state of a search with room for fewer positions."""
        self.lineage.clear()
        for tensor, part in zip(self.tensors(), smaller.tensors(), strict=True):
            tensor[tuple(map(slice, part.shape))] = part

    def first_step(self, decoder: Decoder) -> None:
        self.decoding.forget_sources()
        self.step(decoder, self.forced if self.rules.forced else None)

    def step(self, decoder: Decoder, forced: Tensor | None = None) -> None:
        """Write a position, and choose the words of the next."""
        self.lineage.write()
        for written, value in ((self.words, self.word), (self.sums, self.sum)):
            written.index_copy_(2, self.lineage.step, value.unsqueeze(-1))
        sums, words, beams = self._candidates(decoder, forced)  # B x 2 * beams each, the best first
        ends = words.eq(self.rules.eos) & ~sums.isneginf()
        first = slice(self.rules.beams)  # only these may end
        self.ended.add(ends[:, first], sums[:, first], self.lineage, beams[:, first])
        self._continue(ends, sums, words, beams)

    def _candidates(self, decoder: Decoder, forced: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        lprobs, words = self._shortlist(decoder, forced)  # rows x columns
        sentences, beams = self.word.shape
        sums = lprobs.view(sentences, beams, -1) + self.sum.unsqueeze(-1)
        best, columns = sums.flatten(1).topk(2 * beams)
        return best, words.view(sentences, -1).gather(1, columns), columns // lprobs.size(1)

    def _shortlist(self, decoder: Decoder, forced: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of each beam's best words, as the rules change them, and these words."""
        rules, step, features = self.rules, self.lineage.step, self._features(decoder)
        best = decoder.best_words(features, rules.special, 2 * rules.beams, rules.temperature)
        if forced is not None:
            words = forced.repeat_interleave(rules.beams, 0)  # rows x 1
            best = best.forced(decoder.output_layer(features).float() / rules.temperature, words)
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
        """Continue the best candidates that do not end: at least half, since each beam ends once."""
        candidates = ends.size(1)
        order = ends * candidates + torch.arange(candidates, device=ends.device)
        active = order.topk(self.rules.beams, largest=False).indices
        self.word.copy_(words.gather(1, active))
        self.sum.copy_(sums.gather(1, active))
        self.lineage.advance(beams.gather(1, active))

    def is_over(self) -> bool:
        """Ask the device whether every sentence has all its hypotheses."""
        return bool((self.ended.number == self.rules.beams).all())

    def hypotheses(self, sentences: int) -> Hypotheses:
        """Read the hypotheses of the first sentences, on the CPU, whatever the device."""
        ended, words, sums = self.ended.on_cpu(sentences), self.words[:sentences].cpu(), self.sums[:sentences].cpu()
        return ended.sentences(words, sums, self.rules.eos, self.rules.len_penalty)
