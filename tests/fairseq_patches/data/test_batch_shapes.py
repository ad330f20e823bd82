"""--num-batch-buckets in trainings: of stock's model, too, and with --sentence-avg."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import tasks
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.data import bucket_pad_length_dataset
from fairseq.models.transformer import TransformerModel
from fixture_types import Command
from omegaconf import OmegaConf
from programs.tiny_training import tiny_training
from tiny_models.stock import arguments

from realformer_nmt.data_bins.length_ladder import FILLER, LadderDataset


def task_of(data: Path, **options: Any) -> Any:
    defaults = {"_name": "translation", "data": str(data), "train_subset": "train", "dataset_impl": "mmap"}
    return tasks.setup_task(OmegaConf.create({**defaults, "required_seq_len_multiple": 1, **options}))


def test_only_the_training_subset_is_cut_by_the_ladder(toy_corpus: Path) -> None:
    task = task_of(toy_corpus, num_batch_buckets=5)
    for split in ("train", "valid"):
        task.load_dataset(split)
    assert isinstance(task.dataset("train"), LadderDataset)
    assert not isinstance(task.dataset("valid"), LadderDataset)
    assert task.dataset("train").dataset.buckets is None  # fairseq would have padded the sentences themselves


@pytest.mark.parametrize("sentence_avg", [False, True])
def test_fillers_do_not_count(toy_corpus: Path, sentence_avg: bool) -> None:
    task = task_of(toy_corpus, num_batch_buckets=5)
    task.load_dataset("train")
    ladder = task.dataset("train")
    batch = ladder.collater([ladder[index] for index in (0, 1, FILLER, FILLER)])
    model = TransformerModel.build_model(arguments(before=True), task)
    criterion = CrossEntropyCriterion(task, sentence_avg)
    optimizer = SimpleNamespace(backward=torch.Tensor.backward)
    _, sample_size, log = task.train_step(batch, model, criterion, optimizer, update_num=0)
    assert log["nsentences"] == 2
    assert log["ntokens"] == sum(len(ladder[index]["target"]) for index in (0, 1))
    assert sample_size == log["sample_size"] == (2 if sentence_avg else log["ntokens"])


def test_a_training_of_stock_s_model_has_few_shapes(
    fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    options = ("--max-tokens", 400, "--max-epoch", 2, "--num-batch-buckets", 5, "--save-dir", tmp_path)
    _, *arguments = tiny_training(toy_corpus, user_dir, *options)
    done = fairseq("train", *arguments)
    assert done.returncode == 0, done.stderr
    pairs, batches, shapes = map(
        int, re.findall(r"(\d+) pairs make (\d+) batches of (\d+) shapes", done.stdout.replace(",", ""))[0]
    )
    assert shapes < batches < pairs
    losses = [float(loss) for loss in re.findall(r"\| train \| .*?\bloss ([\d.]+)", done.stdout)]
    assert losses[1] < losses[0]


@pytest.mark.stock
def test_stock_fairseq_still_fails_to_cut_lengths_into_buckets() -> None:
    with pytest.raises(TypeError, match="interpolation"):
        bucket_pad_length_dataset.get_buckets([3, 4, 4, 9, 12], 2)
