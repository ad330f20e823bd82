"""The options of fairseq-train that change what is trained, as they took effect: train.json records and compares them.

Paths, logging, the choice of checkpoints to keep, and the split of a step over GPUs and passes are left out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from realformer_nmt import tasks
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.provenance import files_by_name
from realformer_nmt.common.stages.versions import versions
from realformer_nmt.common.user_dir import PACKAGE
from realformer_nmt.data_bins import subsets as databin
from realformer_nmt.model.part_names import as_recorded

GROUPS = ("model", "task", "criterion", "optimizer", "lr_scheduler", "optimization", "dataset", "checkpoint", "common")
MORE = ("ema", "bmuf", "scoring", "bpe", "tokenizer")
STEP = ("max_tokens", "batch_size", "update_freq", "max_tokens_valid", "batch_size_valid")
BEGUN_BY = ("finetune_from_model", "restore_file", "continue_once")  # options that name a checkpoint to begin from
CARRIED = "carry_embeddings"
PATHS = ("data", "save_dir", *BEGUN_BY, CARRIED, "user_dir", "plasma_path", "dataset_impl")
LOGS = ("aim_", "log_", "tensorboard_", "wandb_", "azureml_", "no_progress_bar", "eval_bleu_print_samples", "profile")
MACHINE = ("cpu", "tpu", "fp16", "bf16", "num_workers", "data_buffer_size", "empty_cache_freq", "all_gather_")
DECODING = ("decoding_precision",)
CHECKPOINTS = ("keep_", "no_epoch_checkpoints", "no_last_checkpoints", "no_save", "checkpoint_", "write_checkpoints_")
# Names of options, or their beginnings
IGNORED = STEP + PATHS + LOGS + MACHINE + DECODING + CHECKPOINTS
FIRST = "checkpoint_last.pt"
BEGINNINGS = ("--fi", "--res", "--con")  # --finetune-from-model, --restore-file, --continue-once, however shortened


def settings(cfg: Any, ranks: int, precision: str) -> dict[str, object]:
    """Return the settings by fairseq's names; one that several groups share is there once, where they agree."""
    table: dict[str, object] = {"precision": precision, "user_dir": user_code(cfg), **step(cfg, ranks)}
    begun = list(beginnings(cfg))
    if getattr(cfg.model, CARRIED, ""):
        begun.append(CARRIED)
    if begun:
        table["begun_by"] = " ".join(begun)  # the hash of what it began from is among the inputs
    for group in (*GROUPS, *MORE):
        for name, value in as_recorded(plain(cfg.get(group))).items():
            add(table, group, name, value)
    return table


def plain(options: Any) -> dict[str, object]:
    if OmegaConf.is_config(options):
        table: Any = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
        return dict(table)
    return {} if options is None else vars(options)


def add(table: dict[str, object], group: str, name: str, value: object) -> None:
    if name == "_name":
        table[group] = value
    elif not name.startswith(IGNORED) and table.setdefault(name, value) != value:
        table[f"{group}.{name}"] = value


def step(cfg: Any, ranks: int) -> dict[str, list[int] | None]:
    """Return the tokens and sentences of one update, for each epoch that --update-freq names."""
    sizes = {"tokens_a_step": cfg.dataset.max_tokens, "sentences_a_step": cfg.dataset.batch_size}
    times = [ranks * passes for passes in cfg.optimization.update_freq]
    return {name: size and [size * number for number in times] for name, size in sizes.items()}


def user_code(cfg: Any) -> str | None:
    """Return --user-dir, unless it is this package."""
    folder = cfg.common.user_dir
    return None if folder is None or Path(folder).resolve() == PACKAGE else str(folder)


def inputs(cfg: Any) -> dict[str, Path]:
    """Return the data-bin's files for training and validation, and the checkpoint that the training begins from."""
    options = {
        "train_subset": cfg.dataset.train_subset,
        "valid_subset": cfg.dataset.valid_subset,
        "combine_valid_subsets": cfg.dataset.combine_valid_subsets,
        "task": cfg.task._name,
        "user_dir": user_code(cfg),
    }
    return {**files(cfg.task.data, options), **files_by_name(beginnings(cfg).values())}


def beginnings(cfg: Any) -> dict[str, Path]:
    """Return checkpoints of other trainings that this one begins from, by the options that name them."""
    paths = {name: cfg.checkpoint.get(name) for name in BEGUN_BY}
    return {name: Path(path) for name, path in paths.items() if path not in (None, FIRST)}


def files(data: str, options: Mapping[str, Any]) -> dict[str, Path]:
    """Return a data-bin's files, of every shard, those of the subsets and those that all share, and the user's code."""
    validation = options["valid_subset"].split(",")
    joined = [options["train_subset"], *(["valid"] if options.get("combine_valid_subsets") else [])]
    task = tasks.task_named(options["task"])
    paths: list[Path] = []
    for folder in (Path(shard, inner) for shard in data.split(":") for inner in task.folders):
        paths += (path for pattern in task.always for path in sorted(folder.glob(pattern)))
        paths += databin.files(folder, *validation, joined=joined, endings=task.endings).values()
    if options.get("user_dir"):
        paths += sorted(Path(options["user_dir"]).rglob("*.py"))
    return files_by_name(paths)


def recorded_settings(record: Path, argv: list[str]) -> dict[str, object] | None:
    """Return the settings recorded for the same argv and version, unless argv names a checkpoint to begin from."""
    if any(word.startswith(BEGINNINGS) for word in argv):
        return None
    try:
        previous = records.read(record, TrainRecord, "")
    except UserError:
        return None
    same = previous.words == argv and previous.made_from.versions == versions()
    return previous.made_from.settings if same else None
