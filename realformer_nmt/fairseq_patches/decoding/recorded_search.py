"""Beam search on a GPU by steps that are recorded once per size of a batch and replayed, each by one launch."""

import logging
import os
import threading
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from realformer_nmt.fairseq_patches.decoding.ended_hypotheses import Hypotheses
from realformer_nmt.fairseq_patches.decoding.static_search import EncodedBatch, SearchRules, SearchSizes, StaticSearch
from realformer_nmt.fairseq_patches.training.one_launch import VARIABLE
from realformer_nmt.model.decoder import Decoder
from realformer_nmt.training.recorded_steps import CudaRecorder

logger = logging.getLogger(__name__)
SHORTEST = 32  # positions for which there is room at least
MOST = 16  # sizes whose steps are recorded at a time
STEPS = 8  # between two questions whether the search is over: the device goes on meanwhile


class RecordedSearch:
    """Search of one size of batches, whose first step and any other are recorded."""

    def __init__(self, recorder: CudaRecorder, decoder: Decoder, search: StaticSearch, batch: EncodedBatch) -> None:
        self.search = search

        def begin() -> None:
            search.begin(batch)
            search.first_step(decoder)
            search.step(decoder)

        recorder.warm_up(begin)
        self.first_step = recorder.record(partial(search.first_step, decoder))
        self.step = recorder.record(partial(search.step, decoder))


class RecordedSearches:
    """Searches of a decoder by their sizes, one at a time."""

    def __init__(self, recorder: CudaRecorder) -> None:
        self.recorder = recorder
        self.searches: dict[Hashable, RecordedSearch] = {}
        self.lock = threading.Lock()

    def hypotheses(self, decoder: Decoder, rules: SearchRules, batch: EncodedBatch) -> Hypotheses:
        with self.lock, torch.inference_mode(False), torch.no_grad():  # tensors outlast the caller's mode
            return self._run(decoder, rules, batch).hypotheses(len(batch.memory))

    def _run(self, decoder: Decoder, rules: SearchRules, batch: EncodedBatch) -> StaticSearch:
        sentences, source = batch.padding.shape
        sizes = SearchSizes(rung(sentences), rung(source, SHORTEST), min(SHORTEST, decoder.max_positions()))
        current = self._recorded(decoder, rules, sizes, batch)
        current.search.begin(batch)
        current.first_step()
        for step in range(1, batch.limit + 1):
            if step % STEPS == 0 and current.search.is_over():
                break
            if step == sizes.target:
                sizes = sizes._replace(target=min(2 * step, decoder.max_positions()))
                smaller, current = current, self._recorded(decoder, rules, sizes, batch)
                current.search.go_on_from(smaller.search)
            current.step()
        return current.search

    def _recorded(
        self, decoder: Decoder, rules: SearchRules, sizes: SearchSizes, batch: EncodedBatch
    ) -> RecordedSearch:
        """Return the search of these sizes; the oldest is forgotten if there are too many."""
        key = (rules, sizes, batch.memory.dtype, decoder.embed_tokens.weight.data_ptr())
        if key not in self.searches:
            search = StaticSearch(decoder, rules, sizes, batch.memory)
            self.searches[key] = RecordedSearch(self.recorder, decoder, search, batch)
            logger.info("recorded the steps of a search of sizes %s", list(sizes))
            if len(self.searches) > MOST:
                del self.searches[next(iter(self.searches))]
        return self.searches[key]


SEARCHES: WeakKeyDictionary[Decoder, RecordedSearches | None] = WeakKeyDictionary()  # None: they failed


def searches_of(decoder: Decoder) -> RecordedSearches | None:
    """Return the recorded searches of a decoder, if it is on a device that records, and the user wants it."""
    if decoder not in SEARCHES and decoder.embed_tokens.weight.is_cuda and os.environ.get(VARIABLE) == "1":
        SEARCHES[decoder] = RecordedSearches(CudaRecorder())
    return SEARCHES.get(decoder)


def rung(size: int, least: int = 1) -> int:
    """Return the power of two that has room for a size."""
    return max(least, 1 << (size - 1).bit_length())


class RecordedGenerator(SequenceGenerator):
    """Generator over a shortlist that replays recorded steps where it can, and otherwise runs fairseq's loop."""

    def _generate(
        self, sample: Any, prefix_tokens: Tensor | None = None, constraints: Any = None, bos_token: int | None = None
    ) -> Any:
        decoder, inputs = self.model.single_model.decoder, sample["net_input"]
        searches = searches_of(decoder) if isinstance(decoder, Decoder) else None
        if searches and prefix_tokens is None and constraints is None and self._repeats(decoder, inputs):
            batch = self._encoded(inputs, self.eos if bos_token is None else bos_token)
            try:
                return searches.hypotheses(decoder, self._rules(), batch)
            except RuntimeError as error:
                logger.warning("decoding steps are not recorded: %s", str(error).partition("\n")[0])
                SEARCHES[decoder] = None
        return super()._generate(sample, prefix_tokens, constraints, bos_token)

    def _repeats(self, decoder: Decoder, inputs: Mapping[str, Any]) -> bool:
        """Tell whether a search does nothing but what a static one does, and has words enough."""
        is_plain = not self.match_source_len and not decoder.need_attn and "src_tokens" in inputs
        words = self.vocab_size - self._rules().special
        return is_plain and words >= 2 * self.beam_size and self.min_len <= self._limit(inputs)

    def _limit(self, inputs: Mapping[str, Any]) -> int:
        limit: int = min(int(self.max_len_a * inputs["src_tokens"].size(1) + self.max_len_b), self.max_len - 1)
        return limit

    def _rules(self) -> SearchRules:
        return SearchRules(
            beams=self.beam_size,
            pad=self.pad,
            eos=self.eos,
            unk=self.unk,
            min_len=self.min_len,
            unk_penalty=self.unk_penalty,
            temperature=self.temperature,
            len_penalty=self.len_penalty if self.normalize_scores else None,
            forced=self.model.prefix is not None,
        )

    def _encoded(self, inputs: Mapping[str, Any], start: int) -> EncodedBatch:
        encoded = self.model.forward_encoder(inputs)[0]
        (memory,), (padding,) = encoded["encoder_out"], encoded["encoder_padding_mask"]
        return EncodedBatch(memory.transpose(0, 1), padding, start, self._limit(inputs), self.model.prefix)
