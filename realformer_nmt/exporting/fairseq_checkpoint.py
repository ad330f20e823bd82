"""Export to a checkpoint of fairseq's own `transformer`, which fairseq reads without this package."""

from pathlib import Path

import torch
from msgspec import UNSET, to_builtins

from realformer_nmt.checkpoints import origins
from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.files.configuration import general
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.exporting import as_stock_transformer
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.tasks import TRANSLATION

FILE = "model.pt"
ARCH = "transformer"


def write(source: LoadedRun, folder: Path, _precision: str) -> None:
    state = checkpoint(source, as_stock_transformer.of(source))
    origin = SourceCheckpoint(
        file=source.path.name,
        sha256=source.origin.inputs[source.path.name].sha256,
        updates=source.updates,
        averaged=list(source.members) or UNSET,
    )
    state["extra_state"][origins.EXPORTED] = to_builtins(origin)
    with (folder / FILE).open("wb") as file:  # of a path torch hides the system's error, such as a full disk
        torch.save(state, file)
    source.copy_words(folder)


def checkpoint(source: LoadedRun, form: as_stock_transformer.StockTransformer) -> Checkpoint:
    """Return a checkpoint that torch.load reads with weights_only; its data-bin is the folder that it is in."""
    languages = dict(zip(("source_lang", "target_lang"), source.corpus.languages, strict=True))
    none = dict.fromkeys(("criterion", "optimizer", "lr_scheduler", "scoring", "bpe", "tokenizer"))
    cfg = {
        **general(),
        **none,
        "task": {"_name": TRANSLATION, "data": ".", **languages},
        "model": {"_name": ARCH, "arch": ARCH, **form.options},
    }
    history = {"num_updates": source.updates, "criterion_name": "", "optimizer_name": "", "lr_scheduler_state": {}}
    return {
        "args": None,
        "cfg": cfg,
        "model": form.weights,
        "optimizer_history": [history],
        "task_state": {},
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}, "val_loss": None, "metrics": {}},
        "last_optimizer_state": None,
    }
