"""Fixtures of the runs: a corpus that every family learns in 200 updates, and the models that learned it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from programs.commands import fairseq as command
from programs.commands import kill_after
from programs.processes import said
from programs.reports import updates
from programs.runs import (
    LANGUAGES,
    LETTERS,
    SENTENCES,
    TRAINING,
    UPDATES,
    Compose,
    Trained,
    at_update,
    average,
    family_options,
)


@pytest.fixture(scope="session")
def text(once: Once) -> Path:
    """Sentences of three or four letters, and the same backwards: train.src, train.tgt ... In copied.tgt, forwards."""
    return once("reversals_text", write_reversals)


def write_reversals(folder: Path) -> None:
    chance = np.random.default_rng(1)
    for split, number in SENTENCES.items():
        sources = [chance.choice(LETTERS, chance.integers(3, 5)) for _ in range(number)]
        (folder / f"{split}.src").write_text("".join(" ".join(words) + "\n" for words in sources))
        (folder / f"{split}.tgt").write_text("".join(" ".join(words[::-1]) + "\n" for words in sources))
    for side in ("src", "tgt"):
        shutil.copyfile(folder / "test.src", folder / f"copied.{side}")


@pytest.fixture(scope="session")
def reversals(once: Once, text: Path) -> Path:
    """Data-bin of the reversed texts, with one dictionary; copied is the subset test1."""

    def binarise(folder: Path) -> None:
        texts = [argument for split in ("train", "valid") for argument in (f"--{split}pref", text / split)]
        texts += ["--testpref", f"{text / 'test'},{text / 'copied'}"]
        languages = ("--source-lang", "src", "--target-lang", "tgt", "--joined-dictionary")
        said(command("preprocess", *languages, *texts, "--destdir", folder), folder)

    return once("reversals", binarise)


@pytest.fixture(scope="session")
def train(reversals: Path, user_dir: Path) -> Compose:
    """train(folder, "--arch", ...) -> a fairseq-train command whose checkpoints go to that folder."""

    def compose(folder: Path, *options: object) -> list[str]:
        return command("train", reversals, "--user-dir", user_dir, "--save-dir", folder, *TRAINING, *options)

    return compose


@pytest.fixture(scope="session")
def generate(reversals: Path, user_dir: Path) -> Compose:
    """generate(checkpoint, ...) -> a fairseq-generate command, five hypotheses wide."""

    def compose(model: Path | str, *options: object) -> list[str]:
        task = (reversals, "--user-dir", user_dir, *LANGUAGES, "--path", model)
        return command("generate", *task, "--beam", 5, "--max-tokens", 2000, "--num-workers", 0, "--cpu", *options)

    return compose


@pytest.fixture(scope="session")
def trained(once: Once, train: Compose) -> Callable[[str], Trained]:
    """trained("realformer") -> that family's tiny model, killed at update 60 and trained on to the end."""

    def get(family: str) -> Trained:
        def build(folder: Path) -> None:
            working_directory = folder / "cwd"
            working_directory.mkdir()
            arguments = train(folder / "checkpoints", *family_options(family))
            killed = kill_after(
                arguments, working_directory, lambda line: any(number >= 60 for number in updates(line))
            )
            (folder / "killed.log").write_text(killed)
            (folder / "resumed.log").write_text(said(arguments, working_directory))
            last = [at_update(folder / "checkpoints", update) for update in (UPDATES - 40, UPDATES)]
            average(last, folder / "average.pt")

        folder = once(f"trained_{family}", build)
        logs = [(folder / f"{part}.log").read_text() for part in ("killed", "resumed")]
        return Trained(folder, folder / "average.pt", *logs)

    return get
