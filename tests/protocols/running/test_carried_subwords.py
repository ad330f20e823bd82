"""train.json counts the pieces of --carry-embeddings."""

from pathlib import Path

import pytest
from msgspec import UNSET
from tiny_models import saved

from realformer_nmt.checkpoints.train_record import CarriedSubwords, TrainRecord
from realformer_nmt.common.files import json_records
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.protocols.running import updates
from realformer_nmt.protocols.running.carried_subwords import carried_counts


def test_pieces_are_counted_once_and_known_afterwards(
    toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The toy corpus has twelve letters."""
    model = saved.save(tmp_path / "first.pt", saved.state(toy_corpus))
    words = [str(toy_corpus), "--arch", "realformer_tiny", *saved.OPTIMISER]
    cfg = updates.parse([*words, "--finetune-from-model", str(model), "--carry-embeddings", str(toy_corpus)])
    stage = Stage("train", tmp_path / "train.json", {}, {})
    counts = carried_counts(stage, cfg, fresh=False)
    assert counts == dict.fromkeys(("source", "target"), CarriedSubwords(pieces=12, carried=12))
    assert "12 of 12 source subwords, 12 of 12 target subwords" in capsys.readouterr().err
    stage.write(TrainRecord(carry_embeddings=counts, made_from=stage.origin(None)))
    model.unlink()
    assert carried_counts(stage, cfg, fresh=False) == counts
    recorded = json_records.read(stage.record, "")["carry_embeddings"]
    assert recorded == {side: {"pieces": 12, "carried": 12} for side in ("source", "target")}
    assert carried_counts(stage, updates.parse(words), fresh=False) is UNSET
