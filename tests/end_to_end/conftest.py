"""What the runs share: a corpus that every family learns in 400 updates, and the models that learned it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pytest
from runs import (
    LANGUAGES,
    TRAINING,
    UPDATES,
    Translations,
    at_update,
    average,
    command,
    finish,
    kill_after,
    parse,
    start,
)

LETTERS = list("abcdefghij")
SENTENCES = {"train": 3000, "valid": 203, "test": 61}
Once = Callable[[str, Callable[[Path], None]], Path]


class Train(Protocol):
    def __call__(self, folder: Path, *options: object) -> str: ...


class Generate(Protocol):
    def __call__(self, model: Path | str, *options: object) -> Translations: ...


class Trained(NamedTuple):
    """A run that was killed and resumed: its checkpoints, the mean of the last three, and the two logs."""

    folder: Path
    average: Path
    killed: str
    resumed: str


@pytest.fixture(scope="session")
def text(once: Once) -> Path:
    """Sentences of three to six letters, and the same backwards: train.src, train.tgt ..."""
    return once("reversals_text", write_reversals)


def write_reversals(folder: Path) -> None:
    chance = np.random.default_rng(1)
    for split, number in SENTENCES.items():
        sources = [chance.choice(LETTERS, chance.integers(3, 7)) for _ in range(number)]
        (folder / f"{split}.src").write_text("".join(" ".join(words) + "\n" for words in sources))
        (folder / f"{split}.tgt").write_text("".join(" ".join(words[::-1]) + "\n" for words in sources))


@pytest.fixture(scope="session")
def reversals(once: Once, text: Path) -> Path:
    """That corpus as data-bin, with one dictionary."""

    def binarise(folder: Path) -> None:
        texts = [argument for split in SENTENCES for argument in (f"--{split}pref", text / split)]
        languages = ("--source-lang", "src", "--target-lang", "tgt", "--joined-dictionary")
        finish(start(command("preprocess", *languages, *texts, "--destdir", folder), folder))

    return once("reversals", binarise)


@pytest.fixture(scope="session")
def train(reversals: Path, user_dir: Path) -> Train:
    """train(folder, "--arch", ...) -> its log; what it saves goes to the folder's `checkpoints`."""

    def run(folder: Path, *options: object) -> str:
        return finish(start(training(reversals, user_dir, folder, *options), folder))

    return run


def training(data: Path, user_dir: Path, folder: Path, *options: object) -> list[str]:
    folder.mkdir(exist_ok=True)
    saving = ("--user-dir", user_dir, "--save-dir", folder / "checkpoints", "--save-interval", 1000)
    return command("train", data, *saving, *TRAINING, *options)


@pytest.fixture(scope="session")
def generate(reversals: Path, user_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Generate:
    """Translate the test set by beam search, five hypotheses wide."""

    def run(model: Path | str, *options: object) -> Translations:
        task = ("--user-dir", user_dir, *LANGUAGES, "--path", model)
        search = ("--beam", 5, "--max-tokens", 2000, "--num-workers", 0, "--cpu", *options)
        folder = tmp_path_factory.mktemp("generate")
        return parse(finish(start(command("generate", reversals, *task, *search), folder)))

    return run


@pytest.fixture(scope="session")
def trained(once: Once, reversals: Path, user_dir: Path) -> Callable[[str], Trained]:
    """trained("realformer") -> that family's tiny model, killed at update 130 and trained on to the end."""

    def get(family: str) -> Trained:
        def build(folder: Path) -> None:
            working_directory = folder / "cwd"
            working_directory.mkdir()
            arguments = training(reversals, user_dir, folder, *family_options(family))
            (folder / "killed.log").write_text(kill_after(start(arguments, working_directory), 130))
            (folder / "resumed.log").write_text(finish(start(arguments, working_directory)))
            last = [at_update(folder / "checkpoints", update) for update in (UPDATES - 100, UPDATES - 50, UPDATES)]
            average(last, folder / "average.pt")

        folder = once(f"trained_{family}", build)
        logs = [(folder / f"{part}.log").read_text() for part in ("killed", "resumed")]
        return Trained(folder, folder / "average.pt", *logs)

    return get


def family_options(family: str) -> tuple[object, ...]:
    saving = ("--save-interval-updates", 50, "--update-epoch-batch-itr", 1, "--disable-validation")
    return ("--arch", f"{family}_tiny", "--score-length", 16, "--max-update", UPDATES, *saving)
