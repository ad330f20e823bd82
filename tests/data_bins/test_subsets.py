"""A data-bin of sentences against fairseq-preprocess's."""

import shutil
from pathlib import Path

import pytest
from fairseq import tasks
from omegaconf import OmegaConf

from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.index import header


@pytest.mark.parametrize("combine", [False, True])
def test_the_files_of_a_subset_are_those_that_fairseq_loads(toy_corpus: Path, tmp_path: Path, combine: bool) -> None:
    data = Path(shutil.copytree(toy_corpus, tmp_path / "data"))
    for file in toy_corpus.glob("valid.*"):
        shutil.copyfile(file, data / file.name.replace("valid", "test1"))
    options = {"_name": "translation", "data": str(data), "train_subset": "train", "dataset_impl": "mmap"}
    task = tasks.setup_task(OmegaConf.create({**options, "required_seq_len_multiple": 1, "upsample_primary": 1}))
    task.load_dataset("test", combine=combine)
    files = subsets.files(data, joined=["test"]) if combine else subsets.files(data, "test")
    sentences = sum(header(path)[1] for name, path in files.items() if name.endswith(".src.idx"))
    assert sentences == len(task.dataset("test"))
