"""Every file of a data-bin is checked before fairseq reads it, whatever the task or the command."""

import functools
from pathlib import Path
from typing import Any

from fairseq import tasks
from fairseq.data import Dictionary, data_utils, indexed_dataset
from fairseq.data.fasta_dataset import FastaDataset
from omegaconf import DictConfig, OmegaConf

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import FORMAT, demand_plain, demand_whole, dictionary_file
from realformer_nmt.data_bins.index import AGAIN
from realformer_nmt.data_bins.languages import demand_language, pair_in


def check_languages() -> None:
    """Those of options, of a checkpoint's options, and of files."""
    original = tasks.setup_task

    @functools.wraps(original)
    def setup_task(cfg: Any, **kwargs: Any) -> Any:
        held: Any = OmegaConf.to_container(cfg) if isinstance(cfg, DictConfig) else vars(cfg)
        demand_plain(held)
        given = {name: held[name] for name in ("source_lang", "target_lang") if held.get(name) is not None}
        for name, language in given.items():
            try:
                demand_language(language)
            except ValueError as error:
                raise UserError(f"--{name.replace('_', '-')}: {error}") from error
        task = original(cfg, **kwargs)
        for name, language in given.items():
            if (found := getattr(task.cfg, name, language)) != language:  # one alone is passed over
                raise UserError(f"--{name.replace('_', '-')} {language}: the data-bin has {found} there; give its own")
        return task

    tasks.setup_task = setup_task
    data_utils.infer_language_pair = lambda path: pair_in(Path(path))


def check_dictionaries() -> None:
    original = Dictionary.add_from_file

    @functools.wraps(original)
    def add_from_file(self: Dictionary, file: Any) -> None:
        if not isinstance(file, str):
            return original(self, file)
        with dictionary_file(Path(file)):
            return original(self, file)

    Dictionary.add_from_file = add_from_file


def check_datasets() -> None:
    original = indexed_dataset.make_dataset

    @functools.wraps(original)
    def make_dataset(path: str, impl: str, fix_lua_indexing: bool = False, dictionary: Any = None) -> Any:
        found = demand_whole(Path(path), impl, dictionary)
        return original(path, FORMAT, fix_lua_indexing, dictionary) if found else None

    indexed_dataset.make_dataset = make_dataset
    indexed_dataset.infer_dataset_impl = lambda _: FORMAT
    FastaDataset._build_index = refuse_fasta


def refuse_fasta(_: Any, path: str) -> None:
    raise UserError(f"{path}.fasta: allowed is the format {FORMAT}; {AGAIN}")
