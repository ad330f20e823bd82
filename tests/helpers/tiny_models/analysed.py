"""Tiny models of the toy corpus, and some of its text, for the analyses."""

import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from programs.program import realformer_nmt
from tiny_models import saved
from tiny_models.tiny import SIZE

from realformer_nmt.analysis import text
from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.model.models.meta_model import skeleton
from realformer_nmt.model.models.model import TranslationModel

SAMPLES = ("--tokens-per-sample", "16")
MASKED = ("--task", "masked_lm", "--criterion", "masked_lm", "--encoder-window", "2", "--encoder-global-tokens", "1")
ONE_TEXT = {"etc": ("realformer_sum_etc_tiny", *MASKED), "lm": ("realformer_lm_tiny", "--task", "language_modeling")}

LOUDER = {"etc": 20, "lm": 2}  # BERT's weights begin small


def some(data: Path, sentences: int = 24) -> Text:
    return text.read(data, "valid", sentences)


def model(of: Text, **options: Any) -> TranslationModel:
    """Return a model of 2+2 layers, without dropout, in evaluation mode."""
    torch.manual_seed(1)
    sizes = [len(words) for words in of.dictionaries]
    return skeleton(Namespace(**(SIZE | {"dropout": 0.0, "score_length": 12} | options)), *sizes).eval()


def idle(built: TranslationModel) -> TranslationModel:
    """Make the model's branches add nothing, so that every layer passes on what it gets."""
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if "out_proj" in name or "fc2" in name:
                parameter.zero_()
    return built


def whole(of: Text) -> Batch:
    """All of it in one batch."""
    (batch,) = of.batches()
    return batch


class Models:
    """once("analysed_models", Models(data)) -> a run's folder, a checkpoint, one of another dictionary, and links."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __call__(self, folder: Path) -> None:
        layers = ("--encoder-layers", "2", "--decoder-layers", "2", "--max-target-positions", "12")
        (folder / "run" / "checkpoints").mkdir(parents=True)
        saved.save(folder / "run" / "checkpoints" / "checkpoint_last.pt", saved.state(self.data, *layers))
        saved.save(folder / "pre.pt", saved.state(self.data, *layers, arch="pre_ln_tiny"))
        other = saved.state(self.data)
        for name, weight in other["model"].items():
            if "embed_tokens" in name or "output_projection" in name:
                other["model"][name] = weight[:-1].clone()
        saved.save(folder / "other.pt", other)
        (folder / "links").write_text("0-0\n" * 203)


class Analysis:
    """once("analysis", Analysis(models)) -> what `realformer-nmt analyse` has made of the first two."""

    def __init__(self, models: Path) -> None:
        self.models = models

    def __call__(self, folder: Path) -> None:
        checkpoints = (self.models / "run", self.models / "pre.pt")
        options = ("--cpu", "--sentences", 40, "--alignment", self.models / "links", "--sentence", "a b c")
        done = realformer_nmt("analyse", *checkpoints, "--output", folder, *options)
        assert done.returncode == 0, done.stderr


class OneText:
    """once("analysed_texts", OneText(data)) -> the sources of a data-bin as a data-bin of one text; models of it, whose
    attention is not almost even; and what `realformer-nmt analyse` has made of the language model."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __call__(self, folder: Path) -> None:
        data = folder / "data-bin"
        data.mkdir()
        shutil.copyfile(self.data / "dict.src.txt", data / "dict.txt")
        for end in ("idx", "bin"):
            shutil.copyfile(self.data / f"valid.src-tgt.src.{end}", data / f"valid.{end}")
        for name, (arch, *flags) in ONE_TEXT.items():
            state = saved.state(data, *flags, *SAMPLES, arch=arch, size=())
            for weight in (each for part, each in state["model"].items() if "_proj.weight" in part):
                weight.mul_(LOUDER[name])
            saved.save(folder / f"{name}.pt", state)
        done = realformer_nmt("analyse", folder / "lm.pt", "--output", folder / "lm", "--cpu", "--sentence", "a b c")
        assert done.returncode == 0, done.stderr
