"""fairseq's commands as processes in a folder of their own, and what they write."""

import os
import re
import signal
import subprocess
import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

LANGUAGES = ("--source-lang", "src", "--target-lang", "tgt")
UPDATES = 400
OPTIMISATION = (
    *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--lr", 5e-3),
    *("--lr-scheduler", "linear", "--warmup-updates", 100, "--total-num-update", UPDATES),
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1),
)
LOGGING = ("--log-format", "simple", "--log-interval", 10)
TRAINING = (
    *("--task", "translation", *LANGUAGES, "--share-all-embeddings", "--dropout", 0.05, "--max-tokens", 350),
    *OPTIMISATION,
    *("--cpu", "--num-workers", 0, "--seed", 1, *LOGGING),
)


def command(name: str, *arguments: object) -> list[str]:
    return [str(Path(sysconfig.get_path("scripts"), f"fairseq-{name}")), *map(str, arguments)]


def start(arguments: list[str], folder: Path, text: str | None = None) -> subprocess.Popen[str]:
    """Start a command in a folder, its two outputs as one."""
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if text is not None and process.stdin:
        process.stdin.write(text)
        process.stdin.close()
    return process


def finish(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    output = process.stdout.read()
    assert process.wait(timeout=300) == 0, output[-3000:]
    return output


def kill_after(process: subprocess.Popen[str], update: int) -> str:
    """What it has said by the time it logs an update as late as this one, and is killed."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if any(number >= update for number in updates(line)):
            break
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL, "".join(lines)[-3000:]
    return "".join(lines)


def updates(log: str) -> list[int]:
    return [int(number) for number in re.findall(r"train_inner.*num_updates=(\d+)", log)]


def losses(log: str, field: str = "loss") -> list[float]:
    """The training loss at every log interval, in bits a token."""
    return [float(loss) for loss in re.findall(rf"train_inner.*[ ,]{field}=([\d.]+)", log)]


def validation(log: str, field: str = "loss") -> list[float]:
    return [float(loss) for loss in re.findall(rf"valid on '\w+' subset.*\| {field} ([\d.]+)", log)]


def load(checkpoint: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = torch.load(checkpoint, weights_only=True)["model"]
    return weights


def at_update(folder: Path, update: int) -> Path:
    (checkpoint,) = folder.glob(f"checkpoint_*_{update}.pt")
    return checkpoint


def average(checkpoints: list[Path], to: Path) -> Path:
    """The mean of the weights, and everything else of the last checkpoint."""
    state = torch.load(checkpoints[-1], weights_only=True)
    models = [load(checkpoint) for checkpoint in checkpoints]
    state["model"] = {name: torch.stack([model[name] for model in models]).mean(0) for name in state["model"]}
    torch.save(state, to)
    return to


class Hypothesis(NamedTuple):
    score: float  # log probability to base 2, divided by the length
    text: str


class Translations(NamedTuple):
    """What fairseq-generate and fairseq-interactive print, by number of the sentence."""

    hypotheses: dict[int, list[Hypothesis]]
    token_scores: dict[int, list[list[float]]]
    alignments: dict[int, list[str]]
    output: str

    @property
    def best(self) -> list[str]:
        """In the order of the source."""
        return [self.hypotheses[number][0].text for number in sorted(self.hypotheses)]


def parse(output: str) -> Translations:
    hypotheses, scores, alignments = defaultdict(list), defaultdict(list), defaultdict(list)
    for kind, number, rest in re.findall(r"^([HPA])-(\d+)\t(.*)$", output, re.MULTILINE):
        if kind == "H":
            score, _, text = rest.partition("\t")
            hypotheses[int(number)].append(Hypothesis(float(score), text))
        elif kind == "P":
            scores[int(number)].append([float(score) for score in rest.split()])
        else:
            alignments[int(number)].append(rest)
    return Translations(dict(hypotheses), dict(scores), dict(alignments), output)
