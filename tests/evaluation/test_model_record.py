"""Description of a model in run.json."""

import argparse
from pathlib import Path

import pytest
import torch

from realformer_nmt.evaluation import model_record


@pytest.mark.parametrize("seconds", [1800.0, torch.tensor(1800.0, dtype=torch.float64)], ids=["one rank", "several"])
def test_a_stock_model_is_described_too(tmp_path: Path, seconds: object) -> None:
    matrix = torch.ones(10, 4)
    model = {"encoder.embed_tokens.weight": matrix, "decoder.embed_tokens.weight": matrix, "w": torch.ones(3)}
    options = argparse.Namespace(arch="transformer", encoder_layers=2, activation_fn="relu", save_dir="x")
    cfg = {"model": options, "common": {"seed": 5}}
    extra = {"previous_training_time": seconds, "val_loss": None}
    torch.save({"cfg": cfg, "model": model, "extra_state": extra}, tmp_path / "stock.pt")
    record = model_record.describe(tmp_path / "stock.pt")
    assert (record.arch, record.encoder_layers, record.parameters) == ("transformer", 2, 43)
    assert (record.wall_clock_hours, record.seed) == (0.5, 5)
    assert not torch.is_tensor(record.wall_clock_hours)
    assert (record.averaged, record.updates) == ([], None)
