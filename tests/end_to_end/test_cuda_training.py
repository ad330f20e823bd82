"""On a GPU fairseq-train and fairseq-generate work with the families in every precision, as they do on the CPU."""

from pathlib import Path

import pytest
import torch
from programs.commands import kill_after
from programs.processes import said
from programs.reports import parse, updates
from programs.runs import UPDATES, Compose, at_update, family_options

FAMILIES = ["admin", "deepnorm", "post_ln", "pre_ln", "realformer", "resi_dual", "synthesizer_dense_vanilla", "mhc"]
PRECISIONS = {"fp32": (), "bf16": ("--bf16",), "fp16": ("--fp16", "--fp16-init-scale", 4)}
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")


def on_gpu(command: list[str]) -> list[str]:
    return [word for word in command if word != "--cpu"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_learns_and_translates_as_on_the_cpu(
    family: str, precision: str, train: Compose, generate: Compose, text: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "checkpoints"
    said(on_gpu(train(folder, *family_options(family), *PRECISIONS[precision])), tmp_path)
    decoding = generate(at_update(folder, UPDATES))
    best = parse(said(on_gpu(decoding), tmp_path)).best
    references = (text / "test.tgt").read_text().splitlines()
    assert sum(map(str.__eq__, best, references)) > 0.8 * len(references)
    assert best == parse(said(decoding, tmp_path)).best


def test_a_killed_training_goes_on(train: Compose, generate: Compose, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    command = on_gpu(train(folder, *family_options("realformer"), *PRECISIONS["fp16"]))
    kill_after(command, tmp_path, lambda line: any(number >= 60 for number in updates(line)))
    resumed = updates(said(command, tmp_path))
    assert 40 < resumed[0] <= 60
    assert resumed[-1] == UPDATES
    best = parse(said(on_gpu(generate(at_update(folder, UPDATES))), tmp_path)).best
    references = (text / "test.tgt").read_text().splitlines()
    assert sum(map(str.__eq__, best, references)) > 0.8 * len(references)
