"""Checkpoints that are hostile or damaged: each ends in one line that names the file, or is what was saved."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import checkpoint_utils, tasks
from omegaconf import OmegaConf

from realformer_nmt.checkpoints import averaging
from realformer_nmt.checkpoints.files import checkpoint_fields, integrity, reading
from realformer_nmt.checkpoints.inspection import inspect
from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.running import updates
from reliability import hostile_pickles
from reliability.trainings import check, same

Figures = dict[str, Any]
State = dict[str, Any]
MARK = "hostile-mark"  # in every text that must not come through
OTHERS = {
    "model": "transformer_from_pretrained_xlm",
    "task": "translation_from_pretrained_bart",
    "criterion": "sentence_ranking",
    "bpe": "gpt2",
    "tokenizer": "os.system",
}
ACTING = """
    _name save_predictions user_dir tensorboard_logdir log_file path lm_path encoder_embed_path lang_dict dataset_impl
    pretrained_checkpoint bpe_codes gpt2_encoder_json restore_file save_dir results_path model_overrides eval_bleu_args
    source_lang
"""
OPTIONS = (
    *("--arch", "realformer_tiny", "--share-all-embeddings", "--encoder-layers", "1", "--decoder-layers", "1"),
    *("--max-tokens", "100", "--optimizer", "adam", "--lr", "0.001", "--max-update", "1"),
)
READERS: dict[str, Callable[[Path], Any]] = {
    "fairseq's": lambda path: checkpoint_utils.load_checkpoint_to_cpu(str(path)),
    "fairseq's average": lambda path: checkpoint_utils.load_ema_from_checkpoint(str(path)),
    "average": lambda path: averaging.average([path]),
    "without weights": checkpoint_fields.without_weights,
    "inspect": inspect,
}


def attack(data: Path, folder: Path) -> Figures:
    """`data`: the data-bin of trainings.corpus."""
    folder.mkdir()
    path = folder / "good.pt"
    torch.save(untrained(data), path)
    return {
        "pickles": refuse_pickles(folder),
        "settings": take_no_settings(path, folder),
        "flips": flip(path, folder, 400),
    }


def untrained(data: Path) -> dict[str, Any]:
    """A checkpoint as fairseq-train saves it."""
    cfg = updates.parse([str(data), *OPTIONS])
    task = tasks.setup_task(cfg.task)
    weights = task.build_model(cfg.model).state_dict()
    return {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": weights,
        "optimizer_history": [{"num_updates": 3, "lr_scheduler_state": {}, "optimizer_name": "FairseqAdam"}],
        "task_state": task.state_dict(),
        "extra_state": {"train_iterator": {"epoch": 1}, "metrics": {}, "ema": weights},
        "last_optimizer_state": None,
    }


def refuse_pickles(folder: Path) -> int:
    """Check that hostile pickles of either format are refused, by each reader."""
    path, proof = folder / "hostile.pt", folder / "proof"
    tried = 0
    for name, pickled in hostile_pickles.pickles(proof).items():
        for content in (hostile_pickles.packed(pickled), hostile_pickles.older(pickled)):
            path.write_bytes(content)
            for reader, read in READERS.items():
                check_one_line(f"{name} by {reader}", path, read)
                tried += 1
            integrity.describe(path)
            check(not proof.exists(), f"{name} has run")
    return tried


def check_one_line(name: str, path: Path, read: Callable[[Path], Any]) -> None:
    try:
        read(path)
    except UserError as error:
        message = str(error)
        check(str(path) in message and "\n" not in message, f"{name}: {message}")
    else:
        check(False, f"{name} was loaded")


def hostile_settings(proof: Path) -> Iterator[tuple[str, State]]:
    """Yield changes of a good checkpoint's settings, by group: each would open, fetch, import or write something."""
    here = f"{proof}/{MARK}"
    for group, other in OTHERS.items():
        yield group, {"_name": other, **dict.fromkeys(ACTING.split(), here)}
    for value in (here, f"http://127.0.0.1:9/{MARK}", f"${{oc.env:HOME}}/{MARK}", f"$({MARK})", [MARK]):
        for group, field in itertools.product(("task", "common", "model"), ACTING.split()):
            yield group, {field: value}


def take_no_settings(path: Path, folder: Path, step: int = 1) -> int:
    """Check that each hostile setting is refused, or that nothing of it is left in what fairseq gets."""
    state = torch.load(path, weights_only=False)
    changed, proof, tried = folder / "changed.pt", folder / "proof", 0
    for group, setting in itertools.islice(hostile_settings(proof), 0, None, step):
        cfg = {**state["cfg"], group: {**(state["cfg"][group] or {}), **setting}}
        torch.save({**state, "model": {}, "cfg": cfg}, changed)
        try:
            loaded = checkpoint_utils.load_checkpoint_to_cpu(str(changed))["cfg"]
        except UserError as error:
            check(str(changed) in str(error) and "\n" not in str(error), f"{group} {setting}: {error}")
        else:
            settings_text = f"{OmegaConf.to_container(loaded, resolve=True)}"
            check(MARK not in settings_text, f"{group} {setting} came through: {settings_text}")
        check(not proof.exists(), f"{group} {setting} has acted")
        tried += 1
    return tried


def flip(path: Path, folder: Path, number: int) -> int:
    """Bits anywhere, and as many at the ends, where an archive's own notes stand."""
    whole, good = path.read_bytes(), reading.load(path)
    flipped, chance = folder / "flipped.pt", np.random.default_rng(1)
    refused = 0
    for turn in range(number):
        ends = (chance.integers(2000), len(whole) - 1 - chance.integers(6000))
        place = int(chance.integers(len(whole)) if turn % 2 else chance.choice(ends))
        content = bytearray(whole)
        content[place] ^= 1 << int(chance.integers(8))
        flipped.write_bytes(content)
        try:
            checkpoint = reading.load(flipped)
        except UserError as error:
            check(str(flipped) in str(error), str(error))
            refused += 1
        else:
            check(same(checkpoint, good), f"the bit in byte {place} came through")
    return refused
