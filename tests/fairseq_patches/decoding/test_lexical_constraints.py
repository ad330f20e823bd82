"""fairseq's lexically constrained search (--constraints) with models that carry scores or values through layers."""

import pytest
import torch
from fairseq.search import LexicallyConstrainedBeamSearch
from fairseq.token_generation_constraints import pack_constraints
from tiny_models.tiny import SOURCE, build, dictionary

from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.model.attention.carry import CARRIES

WORDS = dictionary()
SAMPLE = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(WORDS.pad()).sum(1)}}
PHRASES: list[list[list[int]]] = [[[6, 4], [8]], [], [[9, 9, 5]]]  # of each sentence


@pytest.mark.parametrize("carry", CARRIES)
def test_constraints_appear_and_scores_are_the_models(carry: str) -> None:
    model = build(score_carry=carry).eval()
    for representation in ("ordered", "unordered"):
        search = LexicallyConstrainedBeamSearch(WORDS, representation)
        generator = ShortlistGenerator([model], WORDS, beam_size=4, max_len_b=12, search_strategy=search)
        constraints = pack_constraints([[*map(torch.tensor, each)] for each in PHRASES])
        answers = generator.generate([model], SAMPLE, constraints=constraints)
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
