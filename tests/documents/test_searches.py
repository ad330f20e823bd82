"""Notes of docs/results/scripts/ties.py on a search: candidates step by step, and the pairs that two searches swap."""

from itertools import chain
from typing import Any

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from searches import Search, swapped, swaps, tokens_of, total_scores
from ties import widest
from tiny_models.stock import spread, stock
from tiny_models.tiny import SOURCE, build, dictionary

from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator

A, B, C, D = (1,), (2,), (3,), (4,)
SAMPLE = {"id": torch.tensor([7]), "net_input": {"src_tokens": SOURCE[1:2], "src_lengths": torch.tensor([6])}}


def test_pairs_in_opposite_order_are_swapped() -> None:
    assert swapped([A, B, C], [A, B, C]) == []
    assert swapped([A, B, C], [B, A, C]) == [(A, B)]
    assert swapped([A, B, C], [C, A, B]) == [(A, C), (B, C)]


def test_what_a_list_lacks_stands_behind_the_rest() -> None:
    assert swapped([A, B, C], [A, B, D]) == [(C, D)]
    assert swapped([A, B], [D, A]) == [(A, D), (B, D)]
    assert swapped([A, C], [A]) == []


@pytest.mark.parametrize("name", ["ours", "stock"])
def test_noted_candidates_have_the_scores_of_the_whole_at_once(name: str) -> None:
    search, model = search_of(name)
    ((best, *_),) = search.decode(SAMPLE)
    for step, row in search.of(7):
        candidates = step.candidates(row)
        exact = total_scores(model.double(), SOURCE[1], candidates)
        assert [exact[each] for each in candidates] == pytest.approx(step.scores[row].tolist()[: len(exact)], abs=1e-4)
    assert tokens_of(best) in {candidate for step, row in search.of(7) for candidate in step.candidates(row)}


def test_searches_of_other_weights_swap_what_is_no_tie() -> None:
    (stocks, model), (same, _), (other, _) = search_of("stock"), search_of("ours"), search_of("ours", 1.1)
    for search in (stocks, same, other):
        search.decode(SAMPLE)
    assert not list(swaps(stocks, same, 7))
    pairs = [pair for _, there in swaps(stocks, other, 7) for pair in there]
    row = widest(pairs, total_scores(model.double(), SOURCE[1], chain(*pairs)))
    assert row["margin"] > 100 * row["spacing"]


def search_of(name: str, factor: float = 1.0) -> tuple[Search, Any]:
    torch.manual_seed(3)
    fairseq_model = spread(stock(False)).eval()
    model = fairseq_model
    if name == "ours":
        model = build().eval()
        model.load_state_dict(fairseq_model.state_dict())
    with torch.no_grad():
        model.decoder.output_projection.weight.mul_(torch.linspace(1, factor, 14)[:, None])
    kind = ShortlistGenerator if name == "ours" else SequenceGenerator
    return Search(kind([model], dictionary(), beam_size=3, max_len_b=6)), model
