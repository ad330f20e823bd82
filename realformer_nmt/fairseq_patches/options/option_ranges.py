"""Ranges of options' numbers. fairseq accepts any, and silently trains nonsense, or for ever, with others."""

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from fairseq import options, utils
from fairseq.trainer import Trainer
from omegaconf import DictConfig, OmegaConf

from realformer_nmt.checkpoints.files.allowed_components import KNOWN, SMOOTHED, SettingsError, check_known
from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.options.literal_options import evaluate
from realformer_nmt.fairseq_patches.patch import Original, replace
from realformer_nmt.tasks import task_of


def check_every_option() -> None:
    """Check the numbers of the options that protocols, recipes and pages use, and that all others are finite.

    fairseq accepts any number: with --dropout 2 it trains nonsense, without a limit for ever. Most commands call
    parse_args_and_arch. fairseq-hydra-train does not, but builds a trainer; nor does fairseq-preprocess, which then
    imports the --user-dir of its options.
    """
    replace(options, "parse_args_and_arch", parse_args_and_arch)
    replace(Trainer, "__init__", make_trainer)
    replace(utils, "import_user_module", import_user_module)


def parse_args_and_arch(original: Original, *args: Any, **kwargs: Any) -> Any:
    parsed = original(*args, **kwargs)
    check(parsed[0] if isinstance(parsed, tuple) else parsed)
    return parsed


def make_trainer(original: Original, trainer: Trainer, cfg: DictConfig, *args: Any, **kwargs: Any) -> None:
    check(cfg)
    check_training(cfg)
    original(trainer, cfg, *args, **kwargs)


def import_user_module(original: Original, args: argparse.Namespace | DictConfig) -> None:
    check(args)
    original(args)


class Range(NamedTuple):
    """Allowed numbers, ends included, and how a message names them."""

    least: float
    most: float
    words: str


LARGEST = 2**63 - 1
HUGE = sys.float_info.max
FRACTION = Range(0, math.nextafter(1, 0), "0 or more and less than 1, such as 0.1")
COUNT = Range(1, LARGEST, "1 or more")
POSITIVE = Range(math.ulp(0), HUGE, "more than 0")
NUMBER = Range(0, LARGEST, "0 or more")
AMOUNT = Range(0, HUGE, "0 or more")
SWITCH = Range(-1, LARGEST, "-1, which turns it off, or more")
REACH = Range(0, 2**16, "0, for none, to 65,536")  # positions to either side, each of which has weights
WORKERS = Range(0, 1024, "0 to 1,024")
PROCESSES = Range(1, 1024, "1 to 1,024")
SEED = Range(0, 2**32 - 1, "0 to 4,294,967,295")
INTEGER = Range(-LARGEST, LARGEST, "a whole number of 64 bits")
FINITE = Range(-HUGE, HUGE, "a finite number")

NAMES = {  # the options of protocols, recipes and pages
    COUNT: """log_interval distributed_world_size max_tokens batch_size max_tokens_valid batch_size_valid update_freq
        save_interval beam nbest max_source_positions max_target_positions encoder_layers decoder_layers
        encoder_embed_dim decoder_embed_dim encoder_ffn_embed_dim decoder_ffn_embed_dim encoder_attention_heads
        decoder_attention_heads score_length encoder_window encoder_global_tokens""",
    NUMBER: """max_epoch max_update save_interval_updates validate_interval_updates max_len_b warmup_updates
        thresholdsrc thresholdtgt""",
    AMOUNT: """clip_norm lr max_len_a adam_eps weight_decay end_learning_rate total_num_update stop_time_hours
        r_drop_alpha""",
    SWITCH: """heartbeat_timeout keep_interval_updates keep_last_epochs patience stop_min_lr warmup_init_lr
        diverse_beam_groups distributed_port""",
    FRACTION: "label_smoothing adam_betas",
    POSITIVE: "threshold_loss_scale temperature",
    REACH: "encoder_relative_positions",
    WORKERS: "num_workers",
    PROCESSES: "workers",
    SEED: "seed mask_seed",
}
RANGES = {name: allowed for allowed, names in NAMES.items() for name in names.split()}
DROPOUT_ENDINGS = ("dropout", "layerdrop")
DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")  # what makes two passes differ


def range_of(name: str, value: float) -> Range:
    if name.endswith(DROPOUT_ENDINGS):
        return FRACTION
    return RANGES.get(name, INTEGER if isinstance(value, int) else FINITE)


def check(options: DictConfig | argparse.Namespace) -> None:
    """Check that every number is in its range, and that options go together."""
    for name, value in numbers(options):
        check_number(name, value)
    if isinstance(options, argparse.Namespace):
        check_together(options)


def check_together(args: argparse.Namespace) -> None:
    """Check combinations of options with which fairseq would silently leave data out, or overwrite it."""
    language = getattr(args, "source_lang", None)
    if language and language == args.target_lang and not getattr(args, "only_source", True):
        raise OptionError(
            f"--source-lang {language} --target-lang {language}: both sides would be binarised into one file; name "
            "them differently, or pass --only-source"
        )
    nbest = getattr(args, "nbest", 1)
    beam = getattr(args, "beam", nbest)
    if nbest > beam:
        raise OptionError(f"--nbest {nbest} of --beam {beam} is not possible: pass a beam of {nbest} or more")


def check_number(name: str, value: float) -> None:
    allowed = range_of(name, value)
    if not allowed.least <= value <= allowed.most:  # NaN is out of every range, too
        raise OptionError(f"--{name.replace('_', '-')} {value} is not possible: pass {allowed.words}")


def numbers(options: Any, name: str = "") -> Iterator[tuple[str, int | float]]:
    """Yield the numbers of nested options with their names; a reference (${...}) is a text."""
    if isinstance(options, DictConfig):
        options = OmegaConf.to_container(options, resolve=False, enum_to_str=True)
    if isinstance(options, argparse.Namespace):
        options = vars(options)
    if isinstance(options, Mapping):
        for key, value in options.items():
            if isinstance(value, str) and key == "adam_betas":  # which are written as a list
                value = evaluate(value)
            yield from numbers(value, str(key))
    elif isinstance(options, list | tuple):
        for value in options:
            yield from numbers(value, name)
    elif isinstance(options, int | float) and not isinstance(options, bool):
        yield name, options


def check_training(cfg: DictConfig) -> None:
    """Check that a training can run on this machine, that it ends, and that its checkpoints can be read again."""
    for group, flag in {"task": "--task", "criterion": "--criterion", "model": "--arch"}.items():
        try:
            check_known(group, cfg[group]._name)
        except SettingsError as error:
            raise OptionError(f"{flag}: this training's checkpoints could not be read again: {error}") from error
    check_criterion(cfg)
    check_alignments(cfg)
    if cfg.common.cpu or not torch.cuda.is_available():
        for name in ("memory_efficient_fp16", "fp16"):
            if cfg.common.get(name):
                flag = f"--{name.replace('_', '-')}"
                raise OptionError(f"{flag} needs a GPU: on a CPU leave it out, or train with --bf16")
    limits = cfg.optimization
    ends = (limits.max_epoch, limits.max_update, limits.stop_time_hours, cfg.checkpoint.patience > 0)
    if not any(ends) and limits.stop_min_lr < 0:
        raise OptionError("nothing ends this training: pass --max-epoch N or --max-update N")


def check_criterion(cfg: DictConfig) -> None:
    """Check that the loss fits the targets of the task, and that --r-drop-alpha has an effect."""
    task, criterion, suitable = cfg.task._name, cfg.criterion._name, task_of(cfg).criterion
    # A criterion of another plug-in may fit
    if suitable and criterion != suitable and criterion in KNOWN["criterion"]:
        raise OptionError(f"--criterion {criterion} is no loss of --task {task}: pass --criterion {suitable}")
    alpha = getattr(cfg.criterion, "r_drop_alpha", 0)
    if alpha and not any(getattr(cfg.model, name, 0) for name in DROPOUTS):
        raise OptionError(f"--r-drop-alpha {alpha} without dropout does nothing: pass --dropout, such as 0.1")


def check_alignments(cfg: DictConfig) -> None:
    """Refuse a loss of alignments for a model of this package, which returns no attention in training."""
    package = check_known("model", cfg.model._name).__module__.partition(".")[0]
    has_alignments = getattr(cfg.task, "load_alignments", False)  # without, the loss is the smoothed one
    is_of_this_package = package == __name__.partition(".")[0]
    if cfg.criterion._name == f"{SMOOTHED}_with_alignment" and has_alignments and is_of_this_package:
        raise OptionError(
            f"--criterion {cfg.criterion._name} --load-alignments needs attention in training, which --arch "
            f"{cfg.model._name} does not return: pass --arch transformer, or --criterion {SMOOTHED}"
        )
