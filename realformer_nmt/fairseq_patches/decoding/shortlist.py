"""Beam search over a shortlist of words per beam, instead of the whole vocabulary.

fairseq's loop is unchanged. Where it expects the log-probabilities of all words, it gets those of the special ones
(padding, end, unknown: the first columns, as in the vocabulary) and of the best 2 * beams others: no other word can be
among the best 2 * beams of a sentence.
"""

from collections.abc import Mapping
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from fairseq.tasks.fairseq_task import FairseqTask
from torch import Tensor

from realformer_nmt.fairseq_patches.decoding.recorded_search import RecordedGenerator
from realformer_nmt.fairseq_patches.patch import Original, patch

# Options that need words beyond the best: fairseq's own search does these
NEEDS_ALL_WORDS = ("lm_model", "no_repeat_ngram_size", "tokens_to_suppress")


class ShortlistModel(EnsembleModel):
    """One model with only the best words of its decoder: `decoder.best_words` (decoder.py)."""

    def __init__(self, model: Any, first: int, number: int) -> None:
        super().__init__([model])
        self.first, self.number = first, number
        self.words = torch.empty(0)  # of the last step's columns: rows x columns
        self.prefix: Tensor | None = None  # the word that each sentence begins with, B x 1

    def forward_decoder(
        self, tokens: Tensor, encoder_outs: list[Any], incremental_states: list[Any], temperature: float = 1.0
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probabilities, rows x columns, and attention, rows x S."""
        decoder = self.single_model.decoder
        features, extra = decoder.extract_features(tokens, encoder_outs[0], incremental_states[0])
        best = decoder.best_words(features[:, -1], self.first, self.number, temperature)
        if self.prefix is not None and tokens.size(1) == 1:
            words = self.prefix.repeat_interleave(len(features) // len(self.prefix), 0)  # rows x 1
            best = best.forced(decoder.output_layer(features[:, -1]).float() / temperature, words)
        lprobs, self.words = best.shortlist()
        attention = extra["attn"][0]
        return lprobs, None if attention is None else attention[:, -1]


class ShortlistSearch(BeamSearch):
    """Beam search whose columns are those of the shortlist, translated back to words."""

    def __init__(self, dictionary: Dictionary, model: ShortlistModel) -> None:
        super().__init__(dictionary)
        self.shortlist = [model]  # in a list, so that it is no submodule

    def step(self, step: int, lprobs: Tensor, *state: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
        scores, columns, beams = super().step(step, lprobs, *state, **options)
        words = self.shortlist[0].words.view(len(lprobs), -1)  # B x beams * columns
        return scores, words.gather(1, beams * lprobs.size(-1) + columns), beams


class ShortlistGenerator(SequenceGenerator):
    """Generator with a shortlist, or by fairseq's own search where all words are needed, or several models."""

    def __init__(self, models: Any, dictionary: Dictionary, **options: Any) -> None:
        super().__init__(models, dictionary, **options)
        self.short = self._shortened(models, dictionary, options) if self._can_be_shortened(models, options) else None

    def _can_be_shortened(self, models: Any, options: Mapping[str, object]) -> bool:
        plain_search = type(self.search) is BeamSearch and not any(options.get(name) for name in NEEDS_ALL_WORDS)
        one_model = isinstance(models, list) and len(models) == 1 and self.model.has_encoder()
        has_shortlist = one_model and hasattr(getattr(models[0], "decoder", None), "best_words")
        return plain_search and has_shortlist and self.eos == self.tgt_dict.eos()

    def _shortened(self, models: list[Any], dictionary: Dictionary, options: Mapping[str, object]) -> SequenceGenerator:
        first = 1 + max(self.pad, self.eos, self.unk)
        model = ShortlistModel(models[0], first, min(2 * self.beam_size, self.vocab_size - first))
        search = ShortlistSearch(dictionary, model)
        short = RecordedGenerator(model, dictionary, **{**options, "search_strategy": search})
        short.vocab_size = first + model.number
        return short

    def _generate(self, sample: Any, prefix_tokens: Tensor | None = None, *more: Any, **options: Any) -> Any:
        if self.short is None or not is_short(prefix_tokens, self.short.model.first):
            return super()._generate(sample, prefix_tokens, *more, **options)
        self.short.model.prefix = prefix_tokens
        return self.short._generate(sample, None, *more, **options)


def is_short(prefix: Tensor | None, first: int) -> bool:
    """Tell whether a prefix is none, or one word per sentence, such as a language's tag, and no special one."""
    return prefix is None or (prefix.size(1) == 1 and int(prefix.min()) >= first)


@patch(FairseqTask, "build_generator")
def search_a_shortlist(
    original: Original, task: FairseqTask, models: Any, args: Any, seq_gen_cls: Any = None, *more: Any, **options: Any
) -> Any:
    """Search only each beam's best words, with the same results but for ties.

    fairseq passes several times over the vocabulary per step (sequence_generator.py). Its own search remains where all
    words are needed: for a longer prefix, constraints, n-grams, sampling, several models.
    """
    if seq_gen_cls is None and not getattr(args, "print_alignment", False):
        seq_gen_cls = ShortlistGenerator
    return original(task, models, args, seq_gen_cls, *more, **options)
