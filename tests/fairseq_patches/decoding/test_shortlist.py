"""Hypotheses of the shortlist against those of fairseq's own search over the whole vocabulary."""

from argparse import Namespace
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.search import DiverseBeamSearch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.searches import check_equal
from tiny_models.tiny import PAD, SIZE, task

from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.model.models.model import TranslationModel

WORDS = Dictionary()
for number in range(700):
    WORDS.add_symbol(f"w{number}")
OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {"beam_size": 1},
    "four": {"beam_size": 4},
    "short or long": {"beam_size": 5, "len_penalty": 0.6, "min_len": 3, "max_len_a": 0.5, "max_len_b": 6},
    "no lengths": {"beam_size": 3, "normalize_scores": False},
    "unknown words": {"beam_size": 3, "unk_penalty": -9.0},
    "warm": {"beam_size": 4, "temperature": 2.5},
    "as long as the source": {"beam_size": 3, "match_source_len": True},
    "more beams than words": {"beam_size": 400, "max_len_b": 2},
}


def model(seed: int = 1, tied: bool = True) -> TranslationModel:
    options = Namespace(**SIZE, dropout=0.0, share_all_embeddings=tied)
    translator = TranslationModel.build_model(options, task(WORDS)).eval()
    torch.manual_seed(seed)
    for parameter in translator.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return translator


def sample() -> dict[str, Any]:
    lengths = (7, 5, 3, 6)
    chance = torch.Generator().manual_seed(3)
    source = torch.full((len(lengths), 7), PAD)
    for row, length in zip(source, lengths, strict=True):
        row[-length:] = torch.cat([torch.randint(4, 700, (length - 1,), generator=chance), torch.tensor([2])])
    return {"net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(1)}}


@pytest.mark.parametrize(("name", "attention"), [*((name, False) for name in OPTIONS), ("four", True)])
def test_hypotheses_and_scores_are_those_of_the_whole_vocabulary(name: str, attention: bool) -> None:
    translator = model()
    translator.make_generation_fast_(need_attn=attention)
    options = {"max_len_b": 9, **OPTIONS[name]}
    short, whole = (kind([translator], WORDS, **options) for kind in (ShortlistGenerator, SequenceGenerator))
    assert short.short is not None
    check_equal(short.generate([translator], sample()), whole.generate([translator], sample()))


@pytest.mark.parametrize(
    "options",
    [
        {"no_repeat_ngram_size": 1},
        {"tokens_to_suppress": ("w5", "w9")},
        {"search_strategy": DiverseBeamSearch(WORDS, 2, 0.5)},
        {"eos": 9},
    ],
    ids=str,
)
def test_what_needs_all_words_is_searched_by_fairseq(options: dict[str, Any]) -> None:
    generator = ShortlistGenerator([model()], WORDS, beam_size=4, **options)
    assert generator.short is None


@pytest.mark.filterwarnings("ignore")  # torch announces another library for it
@pytest.mark.parametrize("prepared", [True, False])
def test_a_quantised_model_finds_what_fairseqs_search_finds(prepared: bool) -> None:
    """docs/models.md has these models quantised by torch, whose layers replace those of this package."""
    translator = model()
    if prepared:
        translator.make_generation_fast_()
    quantised = torch.ao.quantization.quantize_dynamic(translator, {torch.nn.Linear})
    short, whole = (
        kind([quantised], WORDS, beam_size=4, max_len_b=9) for kind in (ShortlistGenerator, SequenceGenerator)
    )
    assert short.short is not None
    check_equal(short.generate([quantised], sample()), whole.generate([quantised], sample()))


def test_several_models_are_searched_by_fairseq() -> None:
    models = [model(1), model(2)]
    short, whole = (kind(models, WORDS, beam_size=3, max_len_b=6) for kind in (ShortlistGenerator, SequenceGenerator))
    assert short.short is None
    check_equal(short.generate(models, sample()), whole.generate(models, sample()))


@pytest.mark.parametrize("length", [1, 2])
def test_a_prefix_is_kept_to(length: int) -> None:
    """A language's tag is one word, for which the shortlist is searched."""
    translator, prefix = model(), torch.tensor([[8, 9], [9, 1], [30, 600], [4, 5]])[:, :length]
    short, whole = (
        kind([translator], WORDS, beam_size=3, max_len_b=6) for kind in (ShortlistGenerator, SequenceGenerator)
    )
    hypotheses = short.generate([translator], sample(), prefix_tokens=prefix)
    check_equal(hypotheses, whole.generate([translator], sample(), prefix_tokens=prefix))
    assert hypotheses[2][0]["tokens"][:length].tolist() == prefix[2].tolist()
    assert short.short.model.prefix is (prefix if length == 1 else None)


def test_a_beam_that_is_no_number_is_lost_as_in_the_whole_vocabulary() -> None:
    translator = model(tied=False)
    short, whole = (
        kind([translator], WORDS, beam_size=3, max_len_b=6) for kind in (ShortlistGenerator, SequenceGenerator)
    )
    begun = whole.generate([translator], sample())[0][0]["tokens"][0]
    with torch.no_grad():
        translator.decoder.embed_tokens.weight[begun] = torch.inf
    hypotheses = short.generate([translator], sample())
    assert all(begun not in beam["tokens"][:-1] for beam in hypotheses[0])
    check_equal(hypotheses, whole.generate([translator], sample()))
