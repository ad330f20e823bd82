"""A model's validation equals what fairseq-train logged of it, and loss and BLEU computed from its own outputs."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from programs import argv, commands

from realformer_nmt.evaluation.translating import translation_record
from realformer_nmt.evaluation.translating.translate import TranslateRequest

DECODING = ["--cpu", "--beam", "1", "--max-len-b", "10"]


def translated(data: Path, out: Path, *words: object) -> dict[str, Any]:
    fixed = ["--data", data, "--subwords", "none", "--output", out, *DECODING]
    with commands.starting_forks():
        assert argv.read(TranslateRequest, *words, *fixed).run() == 0
    record: dict[str, Any] = json.loads((out / translation_record.RECORD).read_text())
    return record


def test_a_checkpoint_has_the_scores_that_its_training_logged(
    run: Path, toy_corpus: Path, tmp_path: Path, capsys: Any
) -> None:
    validation = translated(toy_corpus, tmp_path, run / "checkpoint5.pt", "--validate")["validation"]
    assert validation["subset"] == "valid"
    log = (run / "train.log").read_text()
    logged = re.search(r"epoch 005 \| valid on 'valid' subset \| loss ([\d.]+) .*\| bleu ([\d.]+)", log)
    assert logged is not None
    assert (round(validation["loss"], 3), round(validation["bleu"], 2)) == tuple(map(float, logged.groups()))
    line = f"validation: loss {validation['loss']:.3f}, greedy BLEU {validation['bleu']:.2f} on valid\n"
    assert line in capsys.readouterr().out


def test_the_loss_is_that_of_every_sentence(run: Path, toy_corpus: Path, tmp_path: Path) -> None:
    """203 of them, no multiple of 8; another batch size than that of the training changes nothing."""
    path = run / "checkpoint4.pt"
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(toy_corpus)})
    task.load_dataset("valid")
    bits = tokens = 0.0
    with torch.no_grad():
        for pair in task.dataset("valid"):
            source, target = pair["source"][None], pair["target"][None]
            previous = torch.cat([target[:, -1:], target[:, :-1]], 1)
            logits = model.eval()(source, torch.tensor([source.shape[1]]), previous)[0]
            log_probabilities = logits.double().log_softmax(-1)[0]
            bits -= log_probabilities[torch.arange(target.shape[1]), target[0]].sum().item() / math.log(2)
            tokens += target.shape[1]
    assert len(task.dataset("valid")) == 203
    record = translated(toy_corpus, tmp_path, path, "--validate", "--batch-size", 10)
    assert record["validation"]["loss"] == pytest.approx(bits / tokens, abs=1e-5)
