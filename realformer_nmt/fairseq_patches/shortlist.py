"""Beam search over the few words of each beam that can win, instead of the whole vocabulary.

fairseq's loop stays as it is. Where it expects the log-probabilities of all words, it gets those of the words that it
treats in their own way (padding, end, unknown: the first columns, as in the vocabulary) and of the best 2 * beams
others: no other word can be among the best 2 * beams of a sentence.
"""

import functools
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from fairseq.tasks.fairseq_task import FairseqTask
from torch import Tensor

# What asks for other words than the best: fairseq's own search serves it
NEEDS_ALL_WORDS = ("lm_model", "no_repeat_ngram_size", "tokens_to_suppress")


class ShortlistModel(EnsembleModel):
    """One model, which says the best words of its decoder: `decoder.best_words` (decoder.py)."""

    def __init__(self, model: Any, first: int, number: int) -> None:
        super().__init__([model])
        self.first, self.number = first, number
        self.words = torch.empty(0)  # of the last step's columns: rows x columns

    def forward_decoder(
        self, tokens: Tensor, encoder_outs: list[Any], incremental_states: list[Any], temperature: float = 1.0
    ) -> tuple[Tensor, Tensor | None]:
        """Log-probabilities, rows x columns, and attention, rows x S."""
        decoder = self.single_model.decoder
        features, extra = decoder.extract_features(tokens, encoder_outs[0], incremental_states[0])
        found = decoder.best_words(features[:, -1], self.first, self.number, temperature)
        front = torch.arange(self.first, device=found.words.device).expand(len(found.words), -1)
        self.words = torch.cat([front, found.words], 1)
        attention = extra["attn"][0]
        lprobs = torch.cat([found.first, found.values], 1) - found.total
        return lprobs, None if attention is None else attention[:, -1]


class ShortlistSearch(BeamSearch):
    """Asked for columns of the shortlist, it answers with words."""

    def __init__(self, dictionary: Dictionary, model: ShortlistModel) -> None:
        super().__init__(dictionary)
        self.shortlist = [model]  # no part of this module

    def step(self, step: int, lprobs: Tensor, *state: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
        scores, columns, beams = super().step(step, lprobs, *state, **options)
        words = self.shortlist[0].words.view(len(lprobs), -1)  # B x beams * columns
        return scores, words.gather(1, beams * lprobs.size(-1) + columns), beams


class ShortlistGenerator(SequenceGenerator):
    """Where it can: what needs all words, or several models, is searched by fairseq as ever."""

    def __init__(self, models: Any, dictionary: Dictionary, **options: Any) -> None:
        super().__init__(models, dictionary, **options)
        self.short = self._shortened(models, dictionary, options) if self._can_be_shortened(models, options) else None

    def _can_be_shortened(self, models: Any, options: dict[str, Any]) -> bool:
        plain = type(self.search) is BeamSearch and not any(options.get(name) for name in NEEDS_ALL_WORDS)
        alone = isinstance(models, list) and len(models) == 1 and self.model.has_encoder()
        knows = alone and hasattr(getattr(models[0], "decoder", None), "best_words")
        return plain and knows and self.eos == self.tgt_dict.eos()

    def _shortened(self, models: list[Any], dictionary: Dictionary, options: dict[str, Any]) -> SequenceGenerator:
        first = 1 + max(self.pad, self.eos, self.unk)
        model = ShortlistModel(models[0], first, min(2 * self.beam_size, self.vocab_size - first))
        search = ShortlistSearch(dictionary, model)
        short = SequenceGenerator(model, dictionary, **{**options, "search_strategy": search})
        short.vocab_size = first + model.number
        return short

    def _generate(self, sample: Any, prefix_tokens: Tensor | None = None, *more: Any, **options: Any) -> Any:
        if self.short is None or prefix_tokens is not None:
            return super()._generate(sample, prefix_tokens, *more, **options)
        return self.short._generate(sample, None, *more, **options)


def search_a_shortlist() -> None:
    original = FairseqTask.build_generator

    @functools.wraps(original)
    def build_generator(
        self: FairseqTask, models: Any, args: Any, seq_gen_cls: Any = None, *more: Any, **kw: Any
    ) -> Any:
        if seq_gen_cls is None and not getattr(args, "print_alignment", False):
            seq_gen_cls = ShortlistGenerator
        return original(self, models, args, seq_gen_cls, *more, **kw)

    FairseqTask.build_generator = build_generator
