"""Training batches of few shapes: every pair once, a size per shape, and fillers that cost nothing."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.data import LanguagePairDataset, ListDataset, data_utils
from fairseq.data.iterators import EpochBatchIterator
from tiny_models import tiny
from tiny_models.stock import stock
from torch import nn

from realformer_nmt.data_bins.length_ladder import FILLER, RUNGS, LadderDataset, padded_lengths
from realformer_nmt.model.presets import FAMILIES

MAX_TOKENS = 800


def pairs(number: int, longest: int = 300, seed: int = 1) -> LanguagePairDataset:
    """Pairs of random lengths; the sides of a pair are about as long."""
    random = np.random.default_rng(seed)
    sources = random.lognormal(3, 0.8, number).astype(int).clip(2, longest)
    targets = (sources * random.lognormal(0, 0.3, number)).astype(int).clip(2, longest)
    words = tiny.dictionary()
    sentences = [[sentence(random, length) for length in lengths] for lengths in (sources, targets)]
    source, target = (ListDataset(side, list(map(len, side))) for side in sentences)
    return LanguagePairDataset(source, sources, words, target, targets, words)


def sentence(random: np.random.Generator, length: int) -> torch.Tensor:
    return torch.tensor([*random.integers(4, 14, length - 1), tiny.EOS])


def batches(ladder: LadderDataset, epoch: int = 1, **limits: Any) -> list[list[int]]:
    with data_utils.numpy_seed(epoch):
        indices = ladder.ordered_indices()
    defaults = {"max_tokens": MAX_TOKENS, "required_batch_size_multiple": 8}
    return list(map(list, ladder.batch_by_size(indices, **defaults | limits)))


@pytest.mark.parametrize("limits", [{}, {"max_sentences": 6}, {"max_tokens": None, "max_sentences": 6}])
def test_every_pair_is_in_one_batch(limits: dict[str, Any]) -> None:
    ladder = LadderDataset(pairs(3000))
    indices = [index for batch in batches(ladder, **limits) for index in batch if index != FILLER]
    assert sorted(indices) == list(range(3000))


def test_a_shape_has_one_number_of_rows_unless_a_batch_is_less_than_half_full() -> None:
    ladder = LadderDataset(pairs(3000))
    rows = defaultdict(list)
    for batch in batches(ladder):
        tokens = ladder.collater([ladder[index] for index in batch])
        shape = tokens["net_input"]["src_tokens"].size(1), tokens["target"].size(1)
        rows[shape].append((len(batch), FILLER in batch))
    assert len(rows) > 30
    for shape, sizes in rows.items():
        if max(shape) > RUNGS[-1]:
            continue
        full = MAX_TOKENS // max(shape)
        full -= full % 8 if full >= 8 else 0
        assert [size for size, _ in sizes[:-1]] == [full] * (len(sizes) - 1)
        last, is_filled = sizes[-1]
        assert last == full or (2 * last < full and not is_filled)


def test_few_shapes_and_little_padding() -> None:
    """The ladder of 17 lengths makes 51 shapes at most, and the narrower side is at least 3/4 of the wider."""
    sizes = np.stack(np.meshgrid(range(1, 258), range(1, 258)), axis=-1).reshape(-1, 2)
    lengths = padded_lengths(sizes, RUNGS)
    fits = sizes.max(1) <= 256
    assert not lengths[~fits].any()
    assert (lengths[fits] >= sizes[fits]).all()
    assert np.isin(lengths[fits], RUNGS).all()
    assert len(np.unique(lengths[fits], axis=0)) == 51
    assert (lengths[fits].max(1) == RUNGS[np.searchsorted(RUNGS, sizes[fits].max(1))]).all()
    assert (lengths[fits].min(1) >= 0.75 * lengths[fits].max(1)).all()


def test_the_same_epoch_is_cut_alike_and_another_one_is_not() -> None:
    ladder = LadderDataset(pairs(500))
    assert batches(ladder) == batches(ladder) != batches(ladder, epoch=2)


def test_shards_are_disjoint_and_an_epoch_resumes_in_its_middle() -> None:
    ladder = LadderDataset(pairs(500))
    shards = [shard(ladder, index) for index in (0, 1)]
    whole = [ids(shard.next_epoch_itr()) for shard in shards]
    assert sorted(index for batches in whole for batch in batches for index in batch) == list(range(500))
    begun = shard(ladder, 0)
    iterator = begun.next_epoch_itr()
    first = [ids([next(iterator)])[0] for _ in range(3)]
    resumed = shard(ladder, 0)
    resumed.load_state_dict(begun.state_dict())
    assert first + ids(resumed.next_epoch_itr()) == whole[0]


def shard(ladder: LadderDataset, index: int) -> EpochBatchIterator:
    return EpochBatchIterator(
        dataset=ladder, collate_fn=ladder.collater, batch_sampler=batches(ladder), num_shards=2, shard_id=index
    )


def ids(samples: Any) -> list[list[int]]:
    return [[index for index in sample["id"].tolist() if index != FILLER] if sample else [] for sample in samples]


@pytest.mark.parametrize("fillers", [1, 7])
@pytest.mark.parametrize("model", ["pre_ln", "realformer", "stock"])
def test_fillers_change_neither_loss_nor_gradients(model: str, fillers: int) -> None:
    ladder = LadderDataset(pairs(5, longest=12))
    samples = [ladder[index] for index in range(5)]
    plain, filled = (step(built(model), ladder.collater(samples + n * [ladder[FILLER]])) for n in (0, fillers))
    assert filled[0].isfinite()
    torch.testing.assert_close(filled, plain, rtol=1e-5, atol=1e-6)


def built(name: str) -> nn.Module:
    torch.manual_seed(1)
    return stock(before=False) if name == "stock" else tiny.profiled(tiny.build(**FAMILIES[name])).train()


def step(model: nn.Module, batch: Any) -> list[Any]:
    criterion = LabelSmoothedCrossEntropyCriterion(tiny.task(), sentence_avg=False, label_smoothing=0.1)
    loss, sample_size, _ = criterion(model, batch)
    loss.backward()
    assert sample_size == batch["ntokens"]
    assert batch["nsentences"] == 5
    return [loss.detach(), *(weight.grad for weight in model.parameters() if weight.grad is not None)]
