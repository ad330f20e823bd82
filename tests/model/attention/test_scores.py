"""Score sources and carries against their formulas, written out by hand."""

import math

import pytest
import torch
from torch import Tensor

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.cache import KeysValues
from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.score_source import ScoreSource
from realformer_nmt.model.attention.scores import SOURCES, build_source, longest, memory_option
from realformer_nmt.model.scaling import Gains

BATCH, HEADS, WIDTH, TABLE = 2, 3, 4, 12
X = torch.randn(BATCH, 5, HEADS * WIDTH, generator=torch.Generator().manual_seed(5))


def source(name: str) -> ScoreSource:
    torch.manual_seed(7)
    built = build_source(name, HEADS, WIDTH, TABLE)
    for parameter in built.parameters():  # biases and mixtures start at 0, which would hide mistakes
        torch.nn.init.normal_(parameter)
    return built


def test_qk_norm_starts_at_the_papers_scale_and_needs_no_table() -> None:
    assert build_source("qk_norm", HEADS, WIDTH, 72).scale.item() == pytest.approx(math.log2(72**2 - 72))
    assert build_source("qk_norm", HEADS, WIDTH, 1).scale.item() == 1
    assert longest("qk_norm", 12) is None


def test_encoder_decoder_attention_has_the_scores_that_are_of_queries_and_keys() -> None:
    options = {"dot": "dot", "random": "dot", "random+dot": "dot", "qk_norm": "qk_norm", "dense+qk_norm": "qk_norm"}
    assert {option: memory_option(option) for option in options} == options


def dense(s: ScoreSource, _x: Tensor, query: Tensor, _head: int, _i: int, j: int) -> Tensor:
    return sum(torch.clamp(query[d] / math.sqrt(WIDTH), min=0) * s.row_weight[d, j] for d in range(WIDTH))


def dense_per_head(s: ScoreSource, x: Tensor, _query: Tensor, head: int, _i: int, j: int) -> Tensor:
    hidden = [sum(x[c] * s.hidden_weight[head, c, d] for c in range(WIDTH)) for d in range(WIDTH)]
    hidden = [torch.clamp(value + s.hidden_bias[head, 0, d], min=0) for d, value in enumerate(hidden)]
    return sum(hidden[d] * s.row_weight[head, d, j] for d in range(WIDTH)) + s.row_bias[head, 0, j]


def random(s: ScoreSource, _x: Tensor, _query: Tensor, head: int, i: int, j: int) -> Tensor:
    return s.table[head, i, j]


def factorised_dense(s: ScoreSource, x: Tensor, _query: Tensor, head: int, _i: int, j: int) -> Tensor:
    """N = 12 = 3 * 4: A has 3 entries, each for a block of 4 columns; B has 4, column after column."""
    a = [sum(x[c] * s.block_weight[head, c, n] for c in range(WIDTH)) for n in range(3)]
    b = [sum(x[c] * s.cycle_weight[head, c, n] for c in range(WIDTH)) for n in range(4)]
    return ([a[0]] * 4 + [a[1]] * 4 + [a[2]] * 4)[j] * (b * 3)[j]


def factorised_random(s: ScoreSource, _x: Tensor, _query: Tensor, head: int, i: int, j: int) -> Tensor:
    return sum(s.rows[head, i, k] * s.columns[head, j, k] for k in range(8))


BY_HAND = {
    "dense": dense,
    "dense_per_head": dense_per_head,
    "random": random,
    "fixed_random": random,
    "factorised_dense": factorised_dense,
    "factorised_random": factorised_random,
}


def test_every_kind_of_synthesizer_is_checked_by_hand() -> None:
    assert {*BY_HAND, "dot", "qk_norm"} == set(SOURCES)


@pytest.mark.parametrize("name", BY_HAND)
def test_synthesizer_scores(name: str) -> None:
    s = source(name)
    values, query = torch.randn(2, BATCH, HEADS, 5, WIDTH)
    full = s(X, query, KeysValues((values,))).expand(BATCH, -1, -1, -1)  # B x H x T x S
    last = s(X[:, -1:], query[:, :, -1:], KeysValues((values,), start=4)).expand(BATCH, -1, -1, -1)  # one cached step
    beams = s(X[:, -1:], query[:, :, -1:], KeysValues((values.repeat(1, 1, 2, 1),), start=4, beams=2)).expand(
        BATCH, -1, -1, -1
    )
    for b, h, i, j in [(0, 0, 0, 0), (1, 2, 4, 3), (0, 1, 2, 4), (1, 0, 3, 1)]:
        head = X[b, i, h * WIDTH : (h + 1) * WIDTH]
        torch.testing.assert_close(full[b, h, i, j], BY_HAND[name](s, head, query[b, h, i], h, i, j))
    torch.testing.assert_close(last, full[:, :, 4:])
    for beam in (0, 1):
        torch.testing.assert_close(beams[..., beam::2], last)


PARAMETERS = {  # of H heads, D = d_head, N entries: the table of Synthesizer, section 3.3, a head each
    "dot": 0,
    "dense": WIDTH * TABLE,  # and the query projection, where a dot product has two
    "dense_per_head": HEADS * (WIDTH * WIDTH + WIDTH + WIDTH * TABLE + TABLE),
    "random": HEADS * TABLE * TABLE,
    "fixed_random": 0,
    "factorised_dense": HEADS * WIDTH * (3 + 4),
    "factorised_random": HEADS * 2 * TABLE * 8,
    "random+dot": HEADS * TABLE * TABLE + 2,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_number_of_parameters(name: str) -> None:
    assert sum(parameter.numel() for parameter in source(name).parameters()) == PARAMETERS[name]


def test_a_fixed_table_is_stored_but_not_trained() -> None:
    s = source("fixed_random")
    assert [*s.state_dict()] == ["table"]
    assert [*s.parameters()] == []


@pytest.mark.parametrize(
    ("name", "projections"),
    [
        ("dot", "qk"),
        ("dense", "q"),
        ("random", ""),
        ("dense_per_head+random", ""),
        ("dense+random", "q"),
        ("random+dot", "qk"),
    ],
)
def test_only_what_a_source_asks_for_is_projected(name: str, projections: str) -> None:
    s = source(name)
    attention = SelfAttention(s, CARRIES["none"], 1, memory_width=HEADS * WIDTH, dropout=0.0, gains=Gains())
    assert [p for p in "qk" if hasattr(attention, f"{p}_proj")] == [*projections]
    assert attention(X, X, None, None).output.shape == X.shape


@pytest.mark.parametrize(("name", "taps"), [("random", 256), ("fixed_random", 256), ("factorised_random", 8)])
def test_tables_start_as_their_authors(name: str, taps: int) -> None:
    """tf.get_variable takes taps x heads x length numbers: uniform, of variance 2 / (fan in + fan out)."""
    torch.manual_seed(1)
    fan_in, fan_out = taps * 8, taps * 256
    for table in build_source(name, 8, WIDTH, 256).state_dict().values():
        assert table.std().item() == pytest.approx(math.sqrt(2 / (fan_in + fan_out)), rel=0.02)
        assert table.abs().max() <= math.sqrt(6 / (fan_in + fan_out))


def test_a_table_limits_the_length_and_a_dot_product_does_not() -> None:
    assert [longest(name, TABLE) for name in ("dot", "dense", "random+dot")] == [None, TABLE, TABLE]
