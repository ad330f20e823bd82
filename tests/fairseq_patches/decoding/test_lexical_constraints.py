"""fairseq's lexically constrained search (--constraints) with models that carry scores or values through layers."""

from typing import Any

import pytest
import torch
from fairseq.search import LexicallyConstrainedBeamSearch
from fairseq.sequence_generator import SequenceGenerator
from fairseq.token_generation_constraints import pack_constraints
from tiny_models.tiny import SOURCE, build, dictionary

from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.model.attention.carry import CARRIES

WORDS = dictionary()
SAMPLE = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(WORDS.pad()).sum(1)}}
PHRASES: list[list[list[int]]] = [[[6, 4], [8]], [], [[9, 9, 5]]]  # of each sentence
Beams = list[list[dict[str, Any]]]


def generate(model: Any, kind: type[SequenceGenerator], phrases: Any, search: Any = None) -> Beams:
    constraints = None if search is None else pack_constraints([[*map(torch.tensor, each)] for each in phrases])
    generator = kind([model], WORDS, beam_size=4, max_len_b=12, search_strategy=search)
    beams: Beams = generator.generate([model], SAMPLE, constraints=constraints)
    return beams


@pytest.mark.parametrize("carry", CARRIES)
def test_constraints_appear_and_scores_are_the_models(carry: str) -> None:
    model = build(score_carry=carry).eval()
    for representation in ("ordered", "unordered"):
        search = LexicallyConstrainedBeamSearch(WORDS, representation)
        answers = generate(model, ShortlistGenerator, PHRASES, search)
        for source, phrases, (best, *_) in zip(SOURCE, PHRASES, answers, strict=True):
            tokens = best["tokens"]
            text = " ".join(map(str, tokens.tolist()))
            places = [f" {text}".find(" " + " ".join(map(str, phrase))) for phrase in phrases]
            assert -1 not in places
            assert representation == "unordered" or places == sorted(places)
            previous = torch.cat([torch.tensor([WORDS.eos()]), tokens[:-1]])[None]
            logits, _ = model(source[None], None, previous)
            scores = logits.log_softmax(-1)[0].gather(1, tokens[:, None])[:, 0]
            torch.testing.assert_close(best["positional_scores"], scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("carry", CARRIES)
def test_without_constraints_it_finds_what_beam_search_finds(carry: str) -> None:
    model = build(score_carry=carry).eval()
    search = LexicallyConstrainedBeamSearch(WORDS, "ordered")
    constrained = generate(model, ShortlistGenerator, [[], [], []], search)
    for some, expected in zip(constrained, generate(model, SequenceGenerator, []), strict=True):
        assert [beam["tokens"].tolist() for beam in some] == [beam["tokens"].tolist() for beam in expected]
