"""Of all options of fairseq-train, as they took effect, those that change what is trained: what train.json compares.

Paths, logging, what is kept, and the split of a step over GPUs and passes are none of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from realformer_nmt.common import sealed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.provenance import MADE_FROM, Record, named
from realformer_nmt.common.versions import versions
from realformer_nmt.data_bins import databin
from realformer_nmt.protocols import tasks
from realformer_nmt.protocols.command import USER_DIR

GROUPS = ("model", "task", "criterion", "optimizer", "lr_scheduler", "optimization", "dataset", "checkpoint", "common")
MORE = ("ema", "bmuf", "scoring", "bpe", "tokenizer")
OF_STEP = ("max_tokens", "batch_size", "update_freq", "max_tokens_valid", "batch_size_valid")
BEGUN_BY = ("finetune_from_model", "restore_file", "continue_once")  # options that name a checkpoint to begin from
CARRIED = "carry_embeddings"
OF_PLACE = ("data", "save_dir", *BEGUN_BY, CARRIED, "user_dir", "plasma_path", "dataset_impl")
OF_LOG = ("aim_", "log_", "tensorboard_", "wandb_", "azureml_", "no_progress_bar", "eval_bleu_print_samples", "profile")
OF_MACHINE = ("cpu", "tpu", "fp16", "bf16", "num_workers", "data_buffer_size", "empty_cache_freq", "all_gather_")
OF_DECODING = ("decoding_precision",)
KEPT = ("keep_", "no_epoch_checkpoints", "no_last_checkpoints", "no_save", "checkpoint_", "write_checkpoints_")
LEFT_OUT = (*OF_STEP, *OF_PLACE, *OF_LOG, *OF_MACHINE, *OF_DECODING, *KEPT)
FIRST = "checkpoint_last.pt"
BEGINNINGS = ("--fi", "--res", "--con")  # --finetune-from-model, --restore-file, --continue-once, however shortened


def settings(cfg: Any, ranks: int, precision: str) -> dict[str, Any]:
    """By fairseq's names; one that several groups share stands there once, where they agree."""
    found: dict[str, Any] = {"precision": precision, "user_dir": own_code(cfg), **step(cfg, ranks)}
    begun = [*beginnings(cfg), *([CARRIED] if getattr(cfg.model, CARRIED, "") else [])]
    found |= {"begun_by": " ".join(begun)} if begun else {}  # the hash of what it began from is among the inputs
    for group in (*GROUPS, *MORE):
        for name, value in plain(cfg.get(group)).items():
            add(found, group, name, value)
    return found


def plain(options: Any) -> dict[str, Any]:
    if OmegaConf.is_config(options):
        found: Any = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
        return dict(found)
    return {} if options is None else vars(options)


def add(found: dict[str, Any], group: str, name: str, value: Any) -> None:
    if name == "_name":
        found[group] = value
    elif not name.startswith(LEFT_OUT) and found.setdefault(name, value) != value:
        found[f"{group}.{name}"] = value


def step(cfg: Any, ranks: int) -> dict[str, list[int] | None]:
    """What one update is made of, in each epoch that says it."""
    sizes = {"tokens_a_step": cfg.dataset.max_tokens, "sentences_a_step": cfg.dataset.batch_size}
    times = [ranks * passes for passes in cfg.optimization.update_freq]
    return {name: size and [size * number for number in times] for name, size in sizes.items()}


def own_code(cfg: Any) -> str | None:
    """A --user-dir of the user's own."""
    given = cfg.common.user_dir
    return None if given is None or Path(given).resolve() == Path(USER_DIR) else str(given)


def inputs(cfg: Any) -> dict[str, Path]:
    """The data-bin's training and validation, its dictionaries, and a checkpoint that the training begins from."""
    read = {"train_subset": cfg.dataset.train_subset, "valid_subset": cfg.dataset.valid_subset, "task": cfg.task._name}
    return {**files(cfg.task.data, read), **named(beginnings(cfg).values())}


def beginnings(cfg: Any) -> dict[str, Path]:
    """By the options that name them, checkpoints that the training begins from, unless it goes on from its own."""
    given = {name: cfg.checkpoint.get(name) for name in BEGUN_BY}
    return {name: Path(path) for name, path in given.items() if path not in (None, FIRST)}


def files(data: str, made: Mapping[str, Any]) -> dict[str, Path]:
    """Of each shard, whose files have the same names."""
    subsets, task = (made["train_subset"], *made["valid_subset"].split(",")), tasks.named(made["task"])
    found: list[Path] = []
    for folder in (Path(shard, inner) for shard in data.split(":") for inner in task.folders):
        found += (path for pattern in task.always for path in sorted(folder.glob(pattern)))
        found += databin.files(folder, *subsets, endings=task.endings).values()
    return named(found)


def known(record: Path, words: list[str]) -> Record | None:
    """The settings of a training that the same words began, none of which names a checkpoint to begin from."""
    try:
        before = sealed.read(record, "", {MADE_FROM: dict, "words": list})
    except UserError:
        return None
    first = any(word.startswith(BEGINNINGS) for word in words)
    same = before["words"] == words and before[MADE_FROM].get("versions") == versions()
    settings: Record | None = before[MADE_FROM].get("settings")
    return settings if same and not first and isinstance(settings, dict) else None
