"""Checkpoints of fairseq as plain dictionaries: nothing in them is run, and only what is read comes into memory."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils

from realformer_nmt import compat
from realformer_nmt.errors import UserError

# What a model computes beside its weights; dropout and the like only matter in training
CHOICES = (
    *("residual_topology", "residual_scaling", "score_source", "score_carry", "score_length"),
    *(f"{side}_{name}" for side in ("encoder", "decoder") for name in ("layers", "embed_dim", "ffn_embed_dim")),
    *(f"{side}_{name}" for side in ("encoder", "decoder") for name in ("attention_heads", "learned_pos")),
    *("encoder_normalize_before", "decoder_normalize_before", "activation_fn", "layernorm_embedding"),
    *("no_scale_embedding", "no_token_positional_embeddings"),
    *("share_decoder_input_output_embed", "share_all_embeddings"),
)


def load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; give checkpoints that fairseq-train has saved")
    if not zipfile.is_zipfile(path):
        raise UserError(f"{path} is not a whole checkpoint: it is cut off or still being written; copy it again")
    compat.allow_what_checkpoints_hold()
    try:
        state = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{path} holds more than tensors and plain values, and loading that could run code; nothing of it was run"
        ) from error
    except Exception as error:  # torch lets through whatever its reader stumbles over
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"{path} is not a whole checkpoint: {reason}") from error
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict) or not state["model"]:
        raise UserError(f"{path} holds no model; give checkpoints that fairseq-train has saved")
    for name, weight in state["model"].items():
        if not isinstance(weight, torch.Tensor):
            raise UserError(f"{path} is no checkpoint of a model: {name} is no tensor; give one of fairseq-train's")
    return state


def load_any(path: Path) -> dict[str, Any]:
    """Of the format before torch 1.6 too, which comes into memory as a whole."""
    if zipfile.is_zipfile(path):
        return load(path)
    found: dict[str, Any] = checkpoint_utils.load_checkpoint_to_cpu(str(path))
    return found


def options(state: dict[str, Any]) -> dict[str, Any]:
    """The model's options, whether a dataclass, a namespace or an older fairseq stored them."""
    stored = (state.get("cfg") or {}).get("model") or state.get("args") or {}
    return stored if isinstance(stored, dict) else vars(stored)


def choices(state: dict[str, Any]) -> dict[str, Any]:
    given = options(state)
    return {name: given[name] for name in CHOICES if name in given}


def setting(state: dict[str, Any], group: str, name: str) -> Any:
    """A setting of the training run, or None where the checkpoint does not know it."""
    return ((state.get("cfg") or {}).get(group) or {}).get(name)


def updates(state: dict[str, Any]) -> int | None:
    return (state.get("optimizer_history") or [{}])[-1].get("num_updates")


def epochs(state: dict[str, Any]) -> int | None:
    """Epochs begun; fairseq counts the next one as soon as one is complete."""
    iterator = (state.get("extra_state") or {}).get("train_iterator")
    return iterator and iterator["epoch"] - (iterator.get("iterations_in_epoch") == 0)
