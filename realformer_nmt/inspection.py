"""`realformer-nmt inspect CHECKPOINT`: architecture, choices, parameters, and the weight of every shortcut."""

import argparse
import json
from pathlib import Path
from typing import Any

from fairseq.checkpoint_utils import load_checkpoint_to_cpu
from tabulate import tabulate

from realformer_nmt.admin_profile import shortcuts
from realformer_nmt.errors import UserError
from realformer_nmt.presets import FAMILIES, PRESETS
from realformer_nmt.skeleton import skeleton
from realformer_nmt.weights import WeightsError

CHOICES = next(iter(FAMILIES.values()))
SIZES = ("encoder_layers", "decoder_layers", "encoder_embed_dim", "decoder_embed_dim")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Shows what a checkpoint of this package holds. Nothing in it is run."
    parser.epilog = "example: realformer-nmt inspect run/checkpoints/checkpoint_last.pt"
    parser.add_argument("checkpoint", type=Path, help="a checkpoint_*.pt of fairseq-train")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    found = inspect(args.checkpoint)
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    weights = found.pop("shortcuts")
    print(tabulate(found.items(), tablefmt="plain", intfmt=","), end="\n\n")
    headers = {"sublayer": "shortcut of", "mean": "mean w", "smallest": "smallest", "largest": "largest"}
    print(tabulate(weights, headers=headers, floatfmt=".4f"))
    return 0


def inspect(path: Path) -> dict[str, Any]:
    state = _load(path)
    options, weights = state["cfg"]["model"], state["model"]
    arch = getattr(options, "_name", None) or getattr(options, "arch", None)
    if arch not in PRESETS and not all(choice in options for choice in CHOICES):
        raise UserError(
            f"{path} holds a model of arch {arch}, which is not of this package: `realformer-nmt archs` lists its own"
        )
    words = [weights[f"{side}.embed_tokens.weight"].size(0) for side in ("encoder", "decoder")]
    model = skeleton(options, *words)
    try:
        model.load_state_dict(weights)
    except WeightsError as error:
        raise UserError(f"{path} {error}") from error
    history = state.get("optimizer_history") or [{}]
    return {
        "arch": arch,
        **{name: getattr(options, name, None) for name in (*CHOICES, *SIZES)},
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "updates": history[-1].get("num_updates"),
        "shortcuts": [
            {
                "sublayer": f"{side}.{name.removesuffix('_shortcut')}",
                "mean": float(w.mean()),
                "smallest": float(w.min()),
                "largest": float(w.max()),
            }
            for side in ("encoder", "decoder")
            for name, shortcut in shortcuts(model.get_submodule(side))
            for w in [shortcut.weight().detach()]
        ],
    }


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; give the path of a checkpoint that fairseq-train has saved")
    try:
        state = load_checkpoint_to_cpu(str(path))
    except KeyError as error:
        raise UserError(f"{path} is no checkpoint of fairseq-train: it lacks {error}") from error
    except Exception as error:
        raise UserError(f"{path} is no checkpoint that can be read: {error}") from error
    return state
