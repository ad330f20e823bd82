"""Beam search in tensors of fixed sizes, against fairseq's, which shrinks its batch and grows its tensors."""

from typing import Any

import pytest
import torch
from tiny_models.searches import Hypotheses, by_fairseq, check_equal, searchable, sources
from tiny_models.tiny import EOS, PAD

from realformer_nmt.fairseq_patches.decoding.static_search import EncodedBatch, SearchRules, SearchSizes, StaticSearch

RULES: dict[str, dict[str, Any]] = {
    "greedy": {"beam_size": 1},
    "four": {},
    "not too short": {"beam_size": 3, "min_len": 4, "len_penalty": 0.6},
    "any length": {"beam_size": 2, "normalize_scores": False},
    "unknown words": {"unk_penalty": -2.0, "temperature": 1.5},
}
LIMIT = 10
Model = Any


@torch.no_grad()
def search(model: Model, sample: dict[str, Any], beam_size: int = 4, **options: Any) -> Hypotheses:
    """Search with room for two more sentences, longer sources and longer hypotheses than there are."""
    penalty = options.get("len_penalty", 1.0) if options.pop("normalize_scores", True) else None
    defaults = {"min_len": 1, "unk_penalty": 0.0, "temperature": 1.0}
    rules = SearchRules(beam_size, PAD, EOS, 3, **{**defaults, **options, "len_penalty": penalty})
    encoded = model.encoder(**sample["net_input"])
    batch = EncodedBatch(encoded["encoder_out"][0].transpose(0, 1), encoded["encoder_padding_mask"][0], EOS, LIMIT)
    sentences, length, _ = batch.memory.shape
    static = StaticSearch(model.decoder, rules, SearchSizes(sentences + 2, length + 3, LIMIT + 5), batch.memory)
    static.begin(batch)
    static.first_step(model.decoder)
    for _ in range(LIMIT):
        static.step(model.decoder)
    hypotheses = static.hypotheses(sentences)
    assert static.is_over() is all(len(beams) == beam_size for beams in hypotheses)
    return hypotheses


@pytest.mark.parametrize(("family", "rules"), [*(("pre_ln", rules) for rules in RULES), ("realformer", "four")])
def test_hypotheses_and_scores_of_200_sentences_are_fairseqs(family: str, rules: str) -> None:
    model, sample, options = searchable(family), sources(200, 7), {"beam_size": 4, **RULES[rules]}
    expected = by_fairseq(model, sample, **options, max_len_b=LIMIT)
    assert len({len(beam["tokens"]) for beams in expected for beam in beams}) > 3  # beams end at different steps
    check_equal(search(model, sample, **options), expected)


@pytest.mark.parametrize("option", ["decoder_learned_pos", "no_token_positional_embeddings", "layernorm_embedding"])
def test_words_are_read_as_in_fairseq(option: str) -> None:
    model, sample = searchable("post_ln", **{option: True}), sources(5, 6)
    check_equal(search(model, sample), by_fairseq(model, sample, beam_size=4, max_len_b=LIMIT))


def test_a_beam_that_is_no_number_is_lost_as_in_fairseq() -> None:
    model, sample = searchable("post_ln"), sources(5, 4)
    word = by_fairseq(model, sample, beam_size=4, max_len_b=LIMIT)[0][0]["tokens"][0]
    with torch.no_grad():
        model.decoder.embed_tokens.weight[word] = torch.inf
    check_equal(search(model, sample), by_fairseq(model, sample, beam_size=4, max_len_b=LIMIT))
