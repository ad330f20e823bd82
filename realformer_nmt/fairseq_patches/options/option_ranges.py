"""Checks of options before fairseq uses them: numbers against the register, and a training as a whole."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from fairseq import options, utils
from fairseq.trainer import Trainer
from omegaconf import DictConfig

from realformer_nmt.checkpoints.files.allowed_components import KNOWN, SettingsError, check_known
from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_options import check_number
from realformer_nmt.fairseq_patches.options.literal_options import evaluate
from realformer_nmt.fairseq_patches.patch import Original, replace
from realformer_nmt.tasks import task_of


def check_every_option() -> None:
    """Check the numbers of the options that protocols, recipes and pages use, and each training before it starts.

    fairseq accepts any number: with --dropout 2 it trains nonsense, without a limit for ever. Most commands call
    parse_args_and_arch. fairseq-preprocess does not, but imports the --user-dir of its options.
    """
    replace(options, "parse_args_and_arch", parse_args_and_arch)
    replace(Trainer, "__init__", make_trainer)
    replace(utils, "import_user_module", import_user_module)


def parse_args_and_arch(original: Original, *args: Any, **kwargs: Any) -> Any:
    parsed = original(*args, **kwargs)
    check(vars(parsed[0] if isinstance(parsed, tuple) else parsed))
    return parsed


def make_trainer(original: Original, trainer: Trainer, cfg: DictConfig, *args: Any, **kwargs: Any) -> None:
    check_training(cfg)
    original(trainer, cfg, *args, **kwargs)


def import_user_module(original: Original, args: argparse.Namespace | DictConfig) -> None:
    if isinstance(args, argparse.Namespace):
        check(vars(args))
    original(args)


def check(options: Mapping[str, Any]) -> None:
    """Check that every number is in its range."""
    for name, value in options.items():
        for number in numbers(evaluate(value) if name == "adam_betas" and isinstance(value, str) else value):
            check_number(name.replace("_", "-"), number)


def numbers(value: Any) -> Iterator[int | float]:
    """Yield a number, or those of a list."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, int | float) and not isinstance(item, bool):
            yield item


def check_training(cfg: DictConfig) -> None:
    """Check that a training can run on this machine, that it ends, and that its checkpoints can be read again."""
    for group, flag in {"task": "--task", "criterion": "--criterion", "model": "--arch"}.items():
        try:
            check_known(group, cfg[group]._name)
        except SettingsError as error:
            raise OptionError(f"{flag}: this training's checkpoints could not be read again: {error}") from error
    check_criterion(cfg)
    check_metric(cfg)
    if cfg.common.cpu or not torch.cuda.is_available():
        is_flat = not cfg.common.memory_efficient_fp16 and not cfg.common.fp16_no_flatten_grads
        if cfg.common.fp16 and is_flat:
            raise OptionError("--fp16 on a CPU: train with --bf16, which is faster")
    limits = cfg.optimization
    ends = (limits.max_epoch, limits.max_update, limits.stop_time_hours, cfg.checkpoint.patience > 0)
    if not any(ends) and limits.stop_min_lr < 0:
        raise OptionError("nothing ends this training: pass --max-epoch N or --max-update N")


def check_criterion(cfg: DictConfig) -> None:
    """Check that the loss fits the targets of the task."""
    task, criterion, suitable = cfg.task._name, cfg.criterion._name, task_of(cfg).criterion
    # A criterion of another plug-in may fit
    if suitable and criterion != suitable and criterion in KNOWN["criterion"]:
        raise OptionError(f"--criterion {criterion} is no loss of --task {task}: pass --criterion {suitable}")


def check_metric(cfg: DictConfig) -> None:
    """Check that BLEU is measured if it is to choose the best checkpoint: fairseq fails after the first epoch."""
    is_shipped = cfg.criterion._name in KNOWN["criterion"]  # one of the user's may log it
    of_task = getattr(cfg.task, "eval_bleu", cfg.task._name not in KNOWN["task"])
    is_measured = of_task or cfg.dataset.disable_validation or not is_shipped
    if cfg.checkpoint.best_checkpoint_metric == "bleu" and not is_measured:
        raise OptionError("--best-checkpoint-metric bleu: no validation logs it; pass --eval-bleu, or another metric")
