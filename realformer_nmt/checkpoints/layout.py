"""Checkpoints of fairseq as plain dictionaries, and what stands where in them."""

import argparse
from collections.abc import Container
from pathlib import Path
from typing import Any

import torch

from realformer_nmt.checkpoints import reading
from realformer_nmt.common.errors import UserError
from realformer_nmt.model.parts import PARTS

# What a model computes beside its weights; dropout and the like only matter in training
CHOICES = (
    *(*PARTS, "score_length"),
    *(f"{side}_{name}" for side in ("encoder", "decoder") for name in ("layers", "embed_dim", "ffn_embed_dim")),
    *(f"{side}_{name}" for side in ("encoder", "decoder") for name in ("attention_heads", "learned_pos")),
    *("encoder_attention_pattern", "encoder_window", "encoder_global_tokens", "encoder_relative_positions"),
    *("encoder_normalize_before", "decoder_normalize_before", "activation_fn", "layernorm_embedding"),
    *("no_scale_embedding", "no_token_positional_embeddings"),
    *("share_decoder_input_output_embed", "share_all_embeddings"),
)

# Checkpoints of before there was a choice have none; these models did, and do
PATTERNS = {"encoder_attention_pattern": "full", "encoder_window": 128, "encoder_global_tokens": 16}
BEFORE = {**PATTERNS, "encoder_relative_positions": 0}


def load(path: Path, unread: Container[str] = ("last_optimizer_state",)) -> dict[str, Any]:
    """Of the entries in `unread` only the shapes of tensors."""
    state = reading.load(path, unread)
    if not isinstance(state.get("model"), dict) or not state["model"]:
        raise UserError(f"{path} holds no model; give checkpoints that fairseq-train has saved")
    for name, weight in state["model"].items():
        if not isinstance(weight, torch.Tensor):
            raise UserError(f"{path} is no checkpoint of a model: {name} is no tensor; give one of fairseq-train's")
    return state


def without_weights(path: Path) -> dict[str, Any]:
    """For what else it holds: settings, counters, meters."""
    return load(path, ("model", "last_optimizer_state"))


def options(state: dict[str, Any]) -> dict[str, Any]:
    """The model's options, whether a dataclass, a namespace or an older fairseq stored them."""
    return table(table(state.get("cfg")).get("model")) or table(state.get("args"))


def of_this_package(state: dict[str, Any]) -> bool:
    return PARTS.keys() <= options(state).keys()


def choices(state: dict[str, Any]) -> dict[str, Any]:
    given = {**BEFORE, **options(state)}
    return {name: given[name] for name in CHOICES if name in given}


def words(state: dict[str, Any]) -> dict[str, Any]:
    """Its languages, and the hash of each dictionary; nothing where the checkpoint does not know them."""
    task = table(state.get("task_state"))
    hashes = {f"the {side} dictionary": known for side, known in table(task.get("dictionaries")).items()}
    return {**hashes, **({"languages": task["languages"]} if task.get("languages") else {})}


def setting(state: dict[str, Any], group: str, name: str) -> Any:
    """A setting of the training run, or None where the checkpoint does not know it."""
    return table(table(state.get("cfg")).get(group)).get(name)


def updates(state: dict[str, Any]) -> int | None:
    history = state.get("optimizer_history")
    number = table(history[-1] if isinstance(history, list) and history else None).get("num_updates")
    return number if isinstance(number, int) else None


def epochs(state: dict[str, Any]) -> int | None:
    """Epochs begun; fairseq counts the next one as soon as one is complete."""
    iterator = table(table(state.get("extra_state")).get("train_iterator"))
    begun = iterator.get("epoch")
    return begun - (iterator.get("iterations_in_epoch") == 0) if isinstance(begun, int) else None


def table(value: Any) -> dict[str, Any]:
    """An empty one where the checkpoint has another kind of value."""
    found = vars(value) if isinstance(value, argparse.Namespace) else value
    return found if isinstance(found, dict) else {}
