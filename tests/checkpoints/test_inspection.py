"""`realformer-nmt inspect` on checkpoints with known contents."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.models import MODEL_REGISTRY
from omegaconf import OmegaConf
from programs.program import realformer_nmt
from tiny_models.tiny import PREVIOUS, SIZE, SOURCE, build, dictionary

from realformer_nmt.checkpoints import inspection
from realformer_nmt.common.errors import UserError
from realformer_nmt.model import presets
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.topologies.shortcuts import Shortcut


def write(path: Path, options: dict[str, Any], weights: dict[str, torch.Tensor]) -> Path:
    """A checkpoint as fairseq-train saves it."""
    cfg = {"model": options, "task": {"data": "."}, "common": {"seed": 1}, "checkpoint": {}}
    history = {"criterion_name": "CrossEntropyCriterion", "lr_scheduler_state": {"best": 3.5}, "num_updates": 7}
    extra = {"train_iterator": {"epoch": 1, "iterations_in_epoch": 7}}
    state = {"cfg": OmegaConf.create(cfg), "model": weights, "optimizer_history": [history], "extra_state": extra}
    torch.save(state, path)
    return path


def save(folder: Path, **options: Any) -> Path:
    """A checkpoint with known weights on the shortcuts."""
    model = build(**options).train()
    model(SOURCE, None, PREVIOUS)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("delta"):
                parameter.copy_(torch.linspace(-0.1, 0.3, parameter.numel()))
    cfg = vars(TranslationConfig()) | SIZE | {"score_length": 12} | options | {"_name": "realformer_tiny"}
    return write(folder / "checkpoint_last.pt", cfg, model.state_dict())


def test_the_weight_of_every_shortcut_in_order(tmp_path: Path) -> None:
    path = save(
        tmp_path, residual_scaling="admin", score_carry="mean", encoder_layers=3, encoder_attention_pattern="local"
    )
    shown = realformer_nmt("inspect", path, "--json")
    assert shown.returncode == 0, shown.stderr
    report, weights = json.loads(shown.stdout), torch.load(path, weights_only=False)["model"]
    assert (report["arch"], report["residual_scaling"], report["score_carry"]) == ("realformer_tiny", "admin", "mean")
    assert (report["encoder_layers"], report["updates"]) == (3, 7)
    assert (report["encoder_attention_pattern"], report["encoder_window"]) == ("local", 128)
    assert [row["sublayer"] for row in report["shortcuts"]] == [
        *(f"encoder.layers.{i}.{name}" for i in range(3) for name in ("self_attn", "ffn")),
        *(f"decoder.layers.{i}.{name}" for i in range(2) for name in ("self_attn", "encoder_attn", "ffn")),
    ]
    first, second = report["shortcuts"][0], report["shortcuts"][1]
    assert (first["smallest"], first["mean"], first["largest"]) == (1, 1, 1)
    w0 = float(weights["encoder.layers.0.ffn_shortcut.w0"])
    assert (second["smallest"], second["mean"], second["largest"]) == pytest.approx((w0 - 0.1, w0 + 0.1, w0 + 0.3))


def test_parameters_are_counted_once_where_embeddings_are_shared(tmp_path: Path) -> None:
    path = save(tmp_path, share_all_embeddings=True)
    report = json.loads(realformer_nmt("inspect", path, "--json").stdout)
    assert report["parameters"] == sum(parameter.numel() for parameter in build(share_all_embeddings=True).parameters())


def test_constant_weights_are_shown_too(tmp_path: Path) -> None:
    shown = realformer_nmt("inspect", save(tmp_path, residual_scaling="deepnorm"))
    assert shown.stdout.count("1.5651") == 3 * 6  # (3 * 2)^(1/4) at every sub-layer of the decoder: mean, least, most


@pytest.mark.parametrize("name", ["realformer_{}_tiny", "realformer_nmt_{}"])
@pytest.mark.parametrize(("kind", "stack"), [("lm", "decoder"), ("bert", "encoder.sentence_encoder")])
def test_a_model_of_one_side(kind: str, stack: str, name: str, tmp_path: Path) -> None:
    preset = presets.ONE_SIDE_PRESETS[kind][f"realformer_{kind}_tiny"]
    of_task: dict[str, dict[str, Any]] = {
        "lm": {"tokens_per_sample": 16, "max_target_positions": None},
        "bert": {
            "max_positions": 16,
            "pooler_activation_fn": "tanh",
            "pooler_dropout": 0.0,
            "untie_weights_roberta": False,
        },
    }
    options = preset | of_task[kind] | {"_name": name.format(kind)}
    task = Namespace(source_dictionary=dictionary(), target_dictionary=dictionary(), cfg=Namespace())
    model = MODEL_REGISTRY[presets.KINDS[kind].model].build_model(Namespace(**options), task).train()
    model(PREVIOUS)
    path = write(tmp_path / "checkpoint_last.pt", options, model.state_dict())
    report = json.loads(realformer_nmt("inspect", path, "--json").stdout)
    weights = [module for module in model.modules() if isinstance(module, Shortcut)]
    names = [f"{stack}.layers.{layer}.{name}" for layer in range(2) for name in ("self_attn", "ffn")]
    assert [row["sublayer"] for row in report["shortcuts"]] == names
    assert [row["mean"] for row in report["shortcuts"]] == pytest.approx([float(w.weight().mean()) for w in weights])
    assert report["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    with pytest.raises(UserError, match="does not translate, as realformer_"):
        inspection.build(path, options, model.state_dict())
