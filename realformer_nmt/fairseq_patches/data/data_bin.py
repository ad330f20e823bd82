"""Checks of every file of a data-bin before fairseq reads it, whatever the task or the command."""

import contextlib
from pathlib import Path
from typing import Any

from fairseq import tasks
from fairseq.data import Dictionary, data_utils, indexed_dataset
from fairseq.tasks.sentence_prediction import SentencePredictionTask
from omegaconf import DictConfig, OmegaConf

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import FORMAT, dictionary_file, has_sound_dataset
from realformer_nmt.data_bins.languages import check_language, pair_in
from realformer_nmt.data_bins.targets import check_as_many, check_classes
from realformer_nmt.fairseq_patches.patch import Original, patch, replace


def check_languages() -> None:
    """Check languages in options, checkpoints and file names.

    fairseq trusts any file name with a hyphen, in the order of the folder (data/data_utils.py).
    """
    replace(tasks, "setup_task", setup_task)
    data_utils.infer_language_pair = lambda path: pair_in(Path(path))


def setup_task(original: Original, cfg: Any, **kwargs: Any) -> Any:
    options: Any = OmegaConf.to_container(cfg) if isinstance(cfg, DictConfig) else vars(cfg)
    names = ("source_lang", "target_lang")
    languages = {name: options[name] for name in names if options.get(name) is not None}
    for name, language in languages.items():
        try:
            check_language(language)
        except ValueError as error:
            raise UserError(f"--{name.replace('_', '-')}: {error}") from error
    task = original(cfg, **kwargs)
    for name, language in languages.items():
        actual = getattr(task.cfg, name, language)
        if actual != language:  # fairseq ignores one language without the other
            raise UserError(f"--{name.replace('_', '-')} {language}: the data-bin has {actual} there; give its own")
    return task


@patch(Dictionary, "add_from_file")
def check_dictionaries(original: Original, dictionary: Dictionary, file: object) -> None:
    """Check a dictionary, by its hash where the data-bin was prepared.

    With a wrong one fairseq trains on wrong words (data/dictionary.py).
    """
    with dictionary_file(Path(file)) if isinstance(file, str) else contextlib.nullcontext():
        original(dictionary, file)


def check_datasets() -> None:
    """Check lengths, indices, words and hashes; read only the format mmap.

    On damaged data fairseq ends with a traceback or trains on wrong words. Among the errors are one on the GPU and an
    allocation of 574 GB. A .fasta side runs a shell command (data/indexed_dataset.py, data/fasta_dataset.py).
    """
    replace(indexed_dataset, "make_dataset", make_dataset)
    indexed_dataset.infer_dataset_impl = lambda _: FORMAT


def make_dataset(
    original: Original, path: str, impl: str, fix_lua_indexing: bool = False, dictionary: Dictionary | None = None
) -> Any:
    exists = has_sound_dataset(Path(path), impl, dictionary)
    return original(path, FORMAT, fix_lua_indexing, dictionary) if exists else None


@patch(SentencePredictionTask, "load_dataset")
def check_targets(original: Original, task: SentencePredictionTask, split: str, *args: Any, **kwargs: Any) -> Any:
    """Check a task's targets before the first update.

    fairseq ends at the first wrong one (tasks/sentence_prediction.py).
    """
    data, classes = Path(task.cfg.data), task.cfg.num_classes
    for inner in ("input1", "label"):
        check_as_many(data, split, inner)
    dataset = original(task, split, *args, **kwargs)
    if not task.cfg.regression_target:
        check_classes(data, split, task.label_dictionary.nspecial, classes)
    return dataset
