"""The options of fairseq-train that change what is trained, as they took effect: train.json records and compares them.

Paths, logging, the choice of checkpoints to keep, and the split of a step over GPUs and passes are left out.
"""

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from realformer_nmt import tasks
from realformer_nmt.checkpoints.run_files import LAST
from realformer_nmt.common.stages.provenance import files_by_name
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


def settings(cfg: Any, ranks: int, precision: str) -> dict[str, object]:
    """Return the settings by fairseq's names; one that several groups share is there once, if they agree."""
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
    """Return a training's files: its data-bin's, of every shard, the user's code, and the checkpoint it begins from."""
    subsets, code, task = cfg.dataset, user_code(cfg), tasks.task_of(cfg)
    joined = [subsets.train_subset, *(["valid"] if subsets.combine_valid_subsets else [])]
    paths: list[Path] = []
    for folder in (Path(shard, inner) for shard in cfg.task.data.split(":") for inner in task.folders):
        paths += (path for pattern in task.always for path in sorted(folder.glob(pattern)))
        held_out = subsets.valid_subset.split(",")
        paths += databin.files(folder, *held_out, joined=joined, endings=task.endings).values()
    if code:
        paths += sorted(Path(code).rglob("*.py"))
    return {**files_by_name(paths), **files_by_name(beginnings(cfg).values())}


def beginnings(cfg: Any) -> dict[str, Path]:
    """Return checkpoints of other trainings that this one begins from, by the options that name them."""
    paths = {name: cfg.checkpoint.get(name) for name in BEGUN_BY}
    return {name: Path(path) for name, path in paths.items() if path not in (None, LAST)}
