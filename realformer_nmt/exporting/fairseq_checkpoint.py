"""Export to a checkpoint of fairseq's own `transformer`, which fairseq reads without this package."""

from collections.abc import Sequence
from pathlib import Path

import torch
from msgspec import UNSET, to_builtins

from realformer_nmt.checkpoints import origins
from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.files.configuration import general
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.errors import UserError
from realformer_nmt.exporting import as_stock_transformer
from realformer_nmt.exporting.folding import Weights
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.kernels.activations import OWN
from realformer_nmt.tasks import TRANSLATION

FILE = "model.pt"
ARCH = "transformer"


def write(source: LoadedRun, folder: Path, _precision: str) -> None:
    form = as_stock_transformer.of(source)
    if form.options["activation_fn"] in OWN:
        raise UserError(
            f"{source.path} has --activation-fn {form.options['activation_fn']}, which fairseq cannot run; "
            "--to huggingface, ctranslate2 and onnx take it"
        )
    options = {"_name": ARCH, "arch": ARCH, **form.options}
    state = checkpoint(options, form.weights, source.corpus.languages, updates=source.updates)
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


def checkpoint(
    options: Options, weights: Weights, languages: Sequence[str], data: str = ".", updates: int = 0
) -> Checkpoint:
    """Return a checkpoint that torch.load reads with weights_only; by default its data-bin is the folder it is in."""
    pair = dict(zip(("source_lang", "target_lang"), languages, strict=True))
    none = dict.fromkeys(("criterion", "optimizer", "lr_scheduler", "scoring", "bpe", "tokenizer"))
    cfg = {**general(), **none, "task": {"_name": TRANSLATION, "data": data, **pair}, "model": options}
    history = {"num_updates": updates, "criterion_name": "", "optimizer_name": "", "lr_scheduler_state": {}}
    return {
        "args": None,
        "cfg": cfg,
        "model": weights,
        "optimizer_history": [history],
        "task_state": {},
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}, "val_loss": None, "metrics": {}},
        "last_optimizer_state": None,
    }
