"""Figures of heads against scipy's, and padding against sentences alone."""

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy
from tiny_models.tiny import EOS, PAD, build, dictionary
from torch import Tensor

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.measures.alignment import Links
from realformer_nmt.analysis.measures.heads import Heads, divergence, entropy
from realformer_nmt.analysis.measures.token_classes import TokenClasses
from realformer_nmt.analysis.text import Batch, collate
from realformer_nmt.model.models.model import TranslationModel

SENTENCES = [([7, 5, 2], [5, 7, 2]), ([4, 5, 6, 7, 8, 2], [8, 7, 6, 5, 2]), ([9, 4, 4, 6, 2], [6, 4, 9, 2])]
COMMA = 13  # the last of this dictionary


def probabilities(seed: int, *shape: int) -> Tensor:
    rows = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)
    rows[..., 0, :] = torch.eye(shape[-1])[0]  # all at one place: 0 log 0 is 0
    return rows


def test_entropy_is_scipys() -> None:
    p = probabilities(1, 4, 6, 5)
    assert np.allclose(entropy(p), scipy_entropy(p.numpy(), base=2, axis=-1), atol=1e-6)


def test_divergence_is_the_square_of_scipys_distance() -> None:
    p, q = probabilities(1, 4, 6, 5), probabilities(2, 4, 6, 5)
    assert np.allclose(divergence(p, q), jensenshannon(p.numpy(), q.numpy(), base=2, axis=-1) ** 2, atol=1e-6)
    largest = divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert float(largest) == pytest.approx(1)  # the most there is


def batch(sentences: list[tuple[list[int], list[int]]]) -> Batch:
    sides = [[torch.tensor(pair[side]) for pair in sentences] for side in (0, 1)]
    return collate(list(range(len(sentences))), *sides, dictionary("abcdefghi,"))


def heads_of(words: Dictionary, layers: int, heads: int, links: list[Links] | None = None) -> Heads:
    classes = TokenClasses((words, words), torch.device("cpu"))
    return Heads(dict.fromkeys(hooks.CHAINS, (layers, heads)), classes, links)


def measured(model: TranslationModel, batches: list[Batch]) -> Heads:
    heads = heads_of(dictionary("abcdefghi,"), 2, 2)
    with torch.no_grad(), hooks.attention(model, heads.see):
        for each in batches:
            heads.begin(each)
            model(each.source, None, each.previous)
    return heads


def by_hand(model: TranslationModel) -> dict[str, dict[int, Tensor]]:
    """Each sentence alone, so that there is no padding: chain, layer -> heads x words' entropies."""
    attentions: dict[str, dict[int, list[Tensor]]] = {chain: {1: [], 2: []} for chain in hooks.CHAINS}
    for sentence in SENTENCES:
        alone = batch([sentence])
        with hooks.attention(model, lambda chain, layer, p: attentions[chain][layer].append(p[0])), torch.no_grad():
            model(alone.source, None, alone.previous)
    return {
        chain: {
            layer: torch.cat([torch.tensor(scipy_entropy(p.numpy(), base=2, axis=-1)) for p in seen], 1)
            for layer, seen in layers.items()
        }
        for chain, layers in attentions.items()
    }


def test_padding_counts_nowhere() -> None:
    model = build().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # attention that is not almost even
    record, expected = measured(model, [batch(SENTENCES)]).record().chains, by_hand(model)
    for chain, layers in expected.items():
        assert record[chain].queries == sum(len(pair[chain != "encoder"]) for pair in SENTENCES)
        for layer, values in layers.items():
            assert np.allclose(record[chain].entropy.mean[layer - 1], values.mean(1), atol=1e-5)


def test_any_split_into_batches_gives_the_same() -> None:
    model = build(score_carry="mean").eval()
    together = measured(model, [batch(SENTENCES)]).record().chains
    by_sentence = measured(model, [batch([sentence]) for sentence in SENTENCES]).record().chains
    for chain, figures in together.items():
        assert np.allclose(figures.divergence.mean, by_sentence[chain].divergence.mean, atol=1e-6)
        for name, shares in figures.looks.items():
            assert np.allclose(shares, by_sentence[chain].looks[name], atol=1e-6)


def test_where_heads_look() -> None:
    """Head 1 at the word before, head 2 at the comma, of two sentences, one shorter."""
    source = torch.tensor([[4, COMMA, 5, EOS], [COMMA, 6, EOS, PAD]])
    two_sentences = Batch([0, 1], {"encoder": source, "decoder": source}, source)
    heads = heads_of(dictionary("abcdefghi,"), 1, 2)
    heads.begin(two_sentences)
    before = torch.stack([torch.eye(4)[[1, 0, 1, 2]]] * 2)  # the first word has none before it, and looks behind
    comma = torch.stack([torch.eye(4)[[1, 1, 1, 1]], torch.eye(4)[[0, 0, 0, 0]]])
    heads.see("encoder", 1, torch.stack([before, comma], 1))
    record = heads.record().chains["encoder"]
    assert record.queries == 7
    looks = {name: shares[0] for name, shares in record.looks.items()}
    assert looks["previous"] == pytest.approx([5 / 7, 2 / 7])
    assert looks["next"] == pytest.approx([2 / 7, 1 / 7])
    assert looks["same"] == pytest.approx([0, 2 / 7])
    assert looks["punctuation"] == pytest.approx([3 / 7, 1])
    assert looks["end"] == [0, 0]
    assert record.share_of_heads == {"previous": 0.5, "same": 0, "next": 0, "punctuation": 0.5, "end": 0}


@pytest.mark.parametrize(
    ("line", "last_word", "rate"), [("ab@@ c d", 1, 0), ("\u2581ab c \u2581d", 1, 0), ("ab c d", 2, 1 - 4 / 6)]
)
def test_a_sentence_in_which_an_unknown_subword_hides_the_words_is_not_aligned(
    line: str, last_word: int, rate: float
) -> None:
    """The first sentence is aligned without an error; the second has no links, and errors alone where it counts."""
    words = Dictionary()
    first, second, third = (words.add_symbol(subword) for subword in line.split())
    source = torch.tensor([[first, second, third, EOS], [first, words.unk(), third, EOS]])
    target = torch.tensor([[third, third, EOS]] * 2)
    perfect = frozenset({(0, 0), (last_word, 1)})
    links = [Links(perfect, perfect), Links(frozenset(), frozenset())]
    heads = heads_of(words, 1, 1, links)
    heads.begin(Batch([0, 1], {"encoder": source, "decoder": target}, target))
    heads.see("encoder-decoder", 1, torch.stack([torch.eye(4)[[0, 2, 3]]] * 2)[:, None])
    assert heads.aligned
    assert heads.aligned.rates() == [[pytest.approx(rate)]]


def test_without_a_sentence_to_align_there_is_no_rate() -> None:
    """Each sentence has an unknown subword in the middle of a word: in the record there is no figure, not 1."""
    words = Dictionary()
    first, last = words.add_symbol("ab@@"), words.add_symbol("c")
    source, target = torch.tensor([[first, words.unk(), last, EOS]]), torch.tensor([[last, last, EOS]])
    links = [Links(frozenset({(0, 0)}), frozenset({(0, 0)}))]
    heads = heads_of(words, 2, 1, links)
    heads.begin(Batch([0], {"encoder": source, "decoder": target}, target))
    for chain, rows, columns in (("encoder", 4, 4), ("decoder", 3, 3), ("encoder-decoder", 3, 4)):
        for layer in (1, 2):
            heads.see(chain, layer, torch.eye(columns)[:rows][None, None])
    assert heads.record().chains["encoder-decoder"].alignment_error_rate is None
