"""How many pieces `train --carry-embeddings` takes over, asked before anything is trained and kept in train.json."""

import sys
from pathlib import Path
from typing import Any

from fairseq import tasks

from realformer_nmt.common.finished import Stage
from realformer_nmt.common.provenance import Record
from realformer_nmt.fairseq_patches.carried_embeddings import OPTION, demand_beginning, rows_of, told
from realformer_nmt.fairseq_patches.quiet import quiet


def counted(stage: Stage, cfg: Any, anew: bool) -> Record:
    """A training that is gone on with has counted them; what it began from may be gone."""
    folder = getattr(cfg.model, OPTION, "")
    if not folder:
        return {}
    before = (None if anew else stage.standing().record) or {}
    if OPTION in before:
        return {OPTION: before[OPTION]}
    demand_beginning(cfg)
    with quiet():
        rows = rows_of(Path(cfg.checkpoint.finetune_from_model), Path(folder), tasks.setup_task(cfg.task))
    print(f"embeddings carried over: {told(rows)}", file=sys.stderr)
    return {OPTION: {side: {"pieces": found.pieces, "carried": found.common} for side, found in rows.items()}}
