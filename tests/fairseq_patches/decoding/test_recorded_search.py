"""Searches by recorded steps, replayed by a stand-in for CUDA graphs, against fairseq's search."""

import copy
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tiny_models.representatives import every_family
from tiny_models.searches import Hypotheses, by_fairseq, check_equal, searchable, sources
from tiny_models.stand_in_recorder import StandInRecorder
from tiny_models.tiny import dictionary

from realformer_nmt.fairseq_patches.decoding import recorded_search
from realformer_nmt.fairseq_patches.decoding.recorded_search import SEARCHES, RecordedSearches
from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.fairseq_patches.training.one_launch import VARIABLE
from realformer_nmt.kernels.native.library import HIDDEN

Model = Any


@pytest.fixture(autouse=True)
def little_room_and_torch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches outgrow their room, and the stand-in see every operation."""
    monkeypatch.setattr(recorded_search, "SHORTEST", 8)
    monkeypatch.setenv(HIDDEN, "0")


def recording(model: Model) -> RecordedSearches:
    searches = SEARCHES[model.decoder] = RecordedSearches(StandInRecorder())
    return searches


def generate(model: Model, sample: dict[str, Any], prefix: Any = None, **options: Any) -> Hypotheses:
    generator = ShortlistGenerator([model], dictionary(), **options)
    hypotheses: Hypotheses = generator.generate([model], sample, prefix_tokens=prefix)
    return hypotheses


@every_family
def test_recorded_steps_find_what_fairseqs_search_finds(family: str) -> None:
    """Batches of the same sizes, rounded up, share their recordings; the second outgrows the room for 8 positions."""
    model = searchable(family)
    searches = recording(model)
    for sample, limit in ((sources(4, 6), 5), (sources(3, 7, seed=2), 18), (sources(4, 5, seed=3), 6)):
        expected = by_fairseq(model, sample, beam_size=4, max_len_b=limit)
        check_equal(generate(model, sample, beam_size=4, max_len_b=limit), expected)
    assert SEARCHES[model.decoder] is searches
    assert {key[1].target for key in searches.searches} <= {8, 16, 32}
    assert len(searches.searches) <= 3


def test_a_forced_first_word_is_recorded() -> None:
    """Return two batches of the same sizes, so that a word that was recorded as a number would be seen."""
    model = searchable("realformer")
    searches = recording(model)
    for sample, words in ((sources(3, 6), [5, 6, 5]), (sources(4, 5, seed=2), [9, 4, 7, 8])):
        prefix = torch.tensor(words)[:, None]
        hypotheses = generate(model, sample, prefix, beam_size=4, max_len_b=9)
        check_equal(hypotheses, by_fairseq(model, sample, prefix, beam_size=4, max_len_b=9))
        assert [beams[0]["tokens"][0] for beams in hypotheses] == words
    assert [key[0].forced for key in searches.searches] == [True, True]  # with room for 8 positions, and for 16


@pytest.mark.parametrize(
    "options",
    [
        {"prefix": torch.tensor([[5, 7], [6, 1]])},
        {"match_source_len": True},
        {"no_repeat_ngram_size": 2},
        {"beam_size": 6},  # of 11 words that are not special, a shortlist would need 12
    ],
    ids=str,
)
def test_what_a_static_search_does_not_do_is_not_recorded(options: dict[str, Any]) -> None:
    model = searchable("post_ln")
    searches = recording(model)
    generate(model, sources(2, 4), **{"beam_size": 2, "max_len_b": 3, **options})
    assert not searches.searches


def test_nothing_is_recorded_on_a_cpu() -> None:
    model = searchable("post_ln")
    generate(model, sources(2, 4), beam_size=2, max_len_b=3)
    assert model.decoder not in SEARCHES


def test_on_a_gpu_searches_are_recorded_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnGpu:
        embed_tokens = SimpleNamespace(weight=SimpleNamespace(is_cuda=True))

    decoder: Any = OnGpu()
    assert recorded_search.searches_of(decoder) is None
    monkeypatch.setattr(recorded_search, "CudaRecorder", StandInRecorder)
    monkeypatch.setenv(VARIABLE, "1")
    assert recorded_search.searches_of(decoder)


def test_a_search_that_cannot_be_recorded_runs(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(StandInRecorder):
        def record(self, run: Any) -> Any:
            super().record(run)
            raise RuntimeError("operation not permitted when stream is capturing\nand so on")

    model, sample = searchable("post_ln"), sources(3, 5)
    SEARCHES[model.decoder] = RecordedSearches(Failing())
    for _ in range(2):
        check_equal(
            generate(model, sample, beam_size=3, max_len_b=9), by_fairseq(model, sample, beam_size=3, max_len_b=9)
        )
    assert caplog.text.count("not recorded: operation not permitted when stream is capturing\n") == 1


def test_recordings_outlast_inference_mode_and_are_not_copied() -> None:
    model, sample = searchable("post_ln"), sources(3, 5)
    searches = recording(model)
    with torch.inference_mode():
        generate(model, sample, beam_size=3, max_len_b=9)
    check_equal(generate(model, sample, beam_size=3, max_len_b=9), by_fairseq(model, sample, beam_size=3, max_len_b=9))
    assert SEARCHES[model.decoder] is searches
    assert copy.deepcopy(model).decoder not in SEARCHES


def test_weights_that_move_are_recorded_again() -> None:
    model, sample = searchable("realformer"), sources(3, 5)
    searches = recording(model)
    for _ in range(2):
        generate(model, sample, beam_size=3, max_len_b=6)
    assert len(searches.searches) == 1
    model.decoder.embed_tokens.weight.data = model.decoder.embed_tokens.weight.data.clone()
    generate(model, sample, beam_size=3, max_len_b=6)
    assert len(searches.searches) == 2


def test_threads_take_turns() -> None:
    model, samples = searchable("post_ln"), [sources(3, 6), sources(4, 6, seed=2)]
    recording(model)
    expected = [by_fairseq(model, sample, beam_size=3, max_len_b=9) for sample in samples]
    with ThreadPoolExecutor() as threads:
        results = list(threads.map(lambda sample: generate(model, sample, beam_size=3, max_len_b=9), samples * 2))
    for result, hypotheses in zip(results, expected * 2, strict=True):
        check_equal(result, hypotheses)


def test_the_oldest_recordings_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_search, "MOST", 2)
    model = searchable("post_ln")
    searches = recording(model)
    for sentences in (1, 2, 4, 1):
        generate(model, sources(sentences, 4), beam_size=2, max_len_b=3)
    assert [key[1].sentences for key in searches.searches] == [4, 1]
