"""Beam search with its cache, against the same rows decoded afresh."""

import pytest
import torch
from tiny_models.tiny import SOURCE, combination

from realformer_nmt.model.attention.cache import Decoding, KeysValues, Lineage, SelfCache

BEAMS = 3
MOVES = {
    "nothing moves": [list(range(9)), list(range(9))],
    "within sentences": [[1, 1, 0, 5, 4, 3, 8, 8, 8], [0, 2, 2, 3, 3, 4, 6, 8, 7], [2, 2, 2, 5, 4, 4, 8, 7, 6]],
    "a sentence ends": [[2, 1, 1, 7, 6, 6], [0, 2, 1, 4, 3, 3], [5, 5, 4], [1, 0, 0]],
    "across sentences": [[1, 1, 0, 5, 4, 3, 8, 8, 8], [8, 0, 3, 3], [1, 0, 2, 2], [3, 1]],
    "more beams": [[2, 2, 1, 3, 4, 4, 7, 7, 6], [row for row in range(9) for _ in range(2)], list(range(18))[::-1]],
}
MODELS = [
    ("post", "none", "dot", "none"),
    ("post", "none", "dot", "mean"),
    ("pre", "none", "random+dot", "sum"),
    ("dual", "none", "dense", "none"),
    ("post", "none", "factorised_random", "sum"),
]


@pytest.mark.parametrize("fast", [False, True], ids=["as trained", "laid out"])
@pytest.mark.parametrize("parts", MODELS, ids="-".join)
@pytest.mark.parametrize("moves", MOVES)
@torch.no_grad()
def test_every_row_goes_on_from_its_own_words(moves: str, parts: tuple[str, str, str, str], fast: bool) -> None:
    model = combination(parts).eval()
    if fast:  # our kernels are used where there are some
        model.make_generation_fast_(need_attn=False)
    sentences = torch.arange(len(SOURCE)).repeat_interleave(BEAMS)
    encoder_out = model.encoder.reorder_encoder_out(model.encoder(SOURCE), sentences)
    tokens = torch.full((len(sentences), 1), 2)
    state: dict[str, Decoding] = {}
    for move in [*MOVES[moves], None]:
        step, _ = model.decoder(tokens, encoder_out, incremental_state=state)
        afresh, _ = model(SOURCE[sentences], None, tokens)
        torch.testing.assert_close(step[:, -1], afresh[:, -1], rtol=1e-4, atol=1e-5)
        if move is not None:
            order = torch.tensor(move)
            model.decoder.reorder_incremental_state_scripting(state, order)
            encoder_out = model.encoder.reorder_encoder_out(encoder_out, order)
            sentences, words = sentences[order], torch.randint(4, 13, (len(order), 1))
            tokens = torch.cat([tokens[order], words], 1)


def test_attention_over_beams_is_that_over_a_copy_of_each_beams_own_positions() -> None:
    """Both the formula and torch's kernel are tried."""
    lineage, heads, width = Lineage(BEAMS), 2, 4
    memory, copies = SelfCache(lineage), [torch.empty(2, 6, heads, 0, width)]
    for order in ([1, 0, 0, 5, 4, 4], [2, 1, 1, 3, 3, 5], [0, 2, 2, 3, 4, 5]):
        lineage.advance(6, torch.device("cpu"))
        query, *new = torch.randn(3, 2, heads, BEAMS, width, requires_grad=True)  # two sentences
        seen, mask = memory.extend(KeysValues(tuple(new))), lineage.mask()
        copies.append(torch.cat([copies[-1], rows(torch.stack(new))], 3))
        value, key = copies[-1]
        attended = (rows(query) @ key.transpose(-1, -2) / width**0.5).softmax(-1) @ value  # rows x H x 1 x D
        assert not any(part.requires_grad for part in seen.parts)
        scores = seen.match(query, width**-0.5)
        torch.testing.assert_close(rows(seen.mix(scores.masked_fill(mask, -torch.inf).softmax(-1))), attended)
        torch.testing.assert_close(rows(seen.attend(query, mask, 0.0)), attended)
        lineage.reorder(torch.tensor(order))
        copies[-1] = copies[-1][:, order]


@pytest.mark.parametrize("part", [0, 1], ids=["value", "key"])
def test_what_overflows_is_seen_by_its_own_beam_alone(part: int) -> None:
    lineage = Lineage(BEAMS)
    memory = SelfCache(lineage)
    new = [torch.randn(2, 2, BEAMS, 4) for _ in range(2)]
    new[part][0, :, 1] = torch.inf
    lineage.advance(6, torch.device("cpu"))
    query = torch.randn(2, 2, BEAMS, 4).abs()
    seen, mask = memory.extend(KeysValues(tuple(new))), lineage.mask()
    plain = seen.mix(seen.match(query, 1.0).masked_fill(mask, -torch.inf).softmax(-1))
    for attended in (plain, seen.attend(query, mask, 0.0)):
        finite = attended.isfinite().all(-1).all(1)  # two sentences x beams
        assert finite.tolist() == [[True, False, True], [True, True, True]]


def rows(beams: torch.Tensor) -> torch.Tensor:
    """... x B x H x beams x D to ... x B * beams x H x 1 x D."""
    return beams.transpose(-2, -3).flatten(-4, -3).unsqueeze(-2)
