"""Access to the fields of fairseq's checkpoints, whatever version of fairseq saved them."""

import argparse
from collections.abc import Container, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.errors import UserError
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.part_names import PART_NAMES, with_heads

Options = Mapping[str, object]  # settings by their names, of any type that a file may hold
PATTERNS = ("encoder_attention_pattern", "encoder_window", "encoder_global_tokens")
# Options that only matter in training, or in memory
WITHOUT_EFFECT = {
    *("_name", "dropout", "attention_dropout", "activation_dropout", "encoder_layerdrop", "decoder_layerdrop"),
    *("carry_embeddings", "checkpoint_activations", "decoding_precision"),
    *("max_source_positions", "max_target_positions"),
}
# The options that decide what a model computes; the last two are fairseq's own
CHOICES = (
    *(field.name for field in fields(TranslationConfig) if field.name not in WITHOUT_EFFECT),
    *("encoder_normalize_before", "decoder_normalize_before"),
)


def load(path: Path, unread: Container[str] = ("last_optimizer_state",)) -> Checkpoint:
    """Return a checkpoint that holds a model; the tensors in the entries `unread` have only shapes."""
    state = reading.load(path, unread)
    if not isinstance(state.get("model"), dict) or not state["model"]:
        raise UserError(f"{path} holds no model; give checkpoints that fairseq-train has saved")
    for name, weight in state["model"].items():
        if not isinstance(weight, torch.Tensor):
            raise UserError(f"{path} is no checkpoint of a model: {name} is no tensor; give one of fairseq-train's")
    return state


def without_weights(path: Path) -> Checkpoint:
    """Return a checkpoint for its settings, counters and meters; its tensors have only shapes."""
    return load(path, ("model", "last_optimizer_state"))


def options(state: Checkpoint) -> Options:
    """Return the model's options, whether a dataclass, a Namespace or an older fairseq stored them."""
    return with_heads(table(table(state.get("cfg")).get("model")) or table(state.get("args")))


def of_this_package(state: Checkpoint) -> bool:
    return {*PART_NAMES} <= options(state).keys()


def choices(state: Checkpoint) -> Options:
    """Return the options that decide what the model computes."""
    model_options = {"heads": "plain", **options(state)}  # version 0.3.0 had no other heads to choose
    return {name: model_options[name] for name in CHOICES if name in model_options}


def words(state: Checkpoint) -> Options:
    """Return the languages and the hashes of the dictionaries; nothing if the checkpoint does not have them."""
    task = table(state.get("task_state"))
    hashes = {f"the {side} dictionary": digest for side, digest in table(task.get("dictionaries")).items()}
    return {**hashes, **({"languages": task["languages"]} if task.get("languages") else {})}


def setting(state: Checkpoint, group: str, name: str) -> Any:
    """Return a setting of the training, or None if the checkpoint does not have it."""
    return table(table(state.get("cfg")).get(group)).get(name)


def updates(state: Checkpoint) -> int | None:
    history = state.get("optimizer_history")
    number = table(history[-1] if isinstance(history, list) and history else None).get("num_updates")
    return number if isinstance(number, int) else None


def epochs(state: Checkpoint) -> int | None:
    """Return the number of epochs begun; fairseq counts the next one as soon as one is complete."""
    iterator = table(table(state.get("extra_state")).get("train_iterator"))
    begun = iterator.get("epoch")
    return begun - (iterator.get("iterations_in_epoch") == 0) if isinstance(begun, int) else None


def table(value: object) -> dict[str, object]:
    """Return a Namespace or a table as a table, and any other value as an empty one."""
    fields = vars(value) if isinstance(value, argparse.Namespace) else value
    return fields if isinstance(fields, dict) else {}
