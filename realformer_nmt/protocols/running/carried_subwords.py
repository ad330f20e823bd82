"""How many subwords `train --carry-embeddings` takes over, counted before the training and recorded in train.json."""

import sys
from pathlib import Path
from typing import Any

from fairseq import tasks
from msgspec import UNSET, UnsetType

from realformer_nmt.checkpoints.train_record import CarriedSubwords, TrainRecord
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.stage import AGAIN, Stage
from realformer_nmt.fairseq_patches.checkpoints.embedding_transfer import (
    OPTION,
    check_beginning,
    describe_rows,
    rows_of,
)
from realformer_nmt.fairseq_patches.messages.quiet import quiet


def carried_counts(stage: Stage, cfg: Any, fresh: bool) -> dict[str, CarriedSubwords] | UnsetType:
    """Return the counts for the record. A resumed training has them: what it began from may have been removed since."""
    folder = getattr(cfg.model, OPTION, "")
    if not folder:
        return UNSET
    if not fresh and stage.record.is_file():
        previous = records.read(stage.record, TrainRecord, AGAIN)
        if previous.carry_embeddings is not UNSET:
            return previous.carry_embeddings
    check_beginning(cfg)
    with quiet():
        rows = rows_of(Path(cfg.checkpoint.finetune_from_model), Path(folder), tasks.setup_task(cfg.task))
    print(f"embeddings carried over: {describe_rows(rows)}", file=sys.stderr)
    return {side: CarriedSubwords(pieces=each.subwords, carried=each.common) for side, each in rows.items()}
