"""Fixtures of all tests: a toy corpus binarised by fairseq-preprocess, and fairseq's commands as processes."""

import gc
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from fixture_types import Command, Once
from hypothesis import settings
from programs import commands, quick_flags
from texts import text_corpora
from tiny_models.tiny_run import Training

from realformer_nmt import plugin
from reliability import trainings

plugin.register()  # as fairseq does by --user-dir
quick_flags.make_quick()
gc.set_threshold(20_000, 20, 100)  # else a seventh of a worker's time goes to looking through what is never garbage

# The same examples in every run of the suite; `python -m reliability.fuzzing` draws new ones.
settings.register_profile("reproducible", derandomize=True, database=None, deadline=None)
settings.load_profile("reproducible")

commands.shared()  # before pytest-xdist starts its processes

LETTERS = list("abcdefghijkl")
SENTENCES = {"train": 2000, "valid": 203, "test": 61}  # none of them a multiple of 8 but train


def run_fairseq(
    command: str, *arguments: object, launcher: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `fairseq-<command>` of this interpreter's environment; a hang fails after five minutes."""
    return commands.run([*launcher, *commands.fairseq(command, *arguments)], environment=environment)


@pytest.fixture(scope="session")
def fairseq() -> Command:
    """fairseq("train", data_bin, "--arch", "transformer", LOGLEVEL="DEBUG") -> CompletedProcess."""
    return run_fairseq


@pytest.fixture(scope="session")
def user_dir() -> Path:
    """The plug-in, as --user-dir wants it."""
    return Path(__file__).resolve().parents[1] / "realformer_nmt"


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole run, whichever process of pytest-xdist asks for it."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def once(shared_folder: Path) -> Once:
    """once("name", build) -> a folder that build(folder) filled, the first time that any process asked for it."""

    def built(name: str, build: Callable[[Path], None]) -> Path:
        folder = shared_folder / name
        with FileLock(f"{folder}.lock"):
            if not Path(f"{folder}.built").exists():
                folder.mkdir(exist_ok=True)
                build(folder)
                Path(f"{folder}.built").touch()
        return folder

    return built


@pytest.fixture(scope="session")
def toy_corpus(once: Once) -> Path:
    """data-bin of a reversal task, languages src and tgt, one dictionary; its text stands beside it as train.src ..."""
    return once("toy_corpus", _make_corpus) / "data-bin"


def _make_corpus(folder: Path) -> None:
    _write_reversals(folder)
    _binarise(folder)


def _write_reversals(folder: Path) -> None:
    chance = np.random.default_rng(1)
    for split, number in SENTENCES.items():
        sources = [chance.choice(LETTERS, chance.integers(3, 9)) for _ in range(number)]
        (folder / f"{split}.src").write_text("".join(" ".join(words) + "\n" for words in sources))
        (folder / f"{split}.tgt").write_text("".join(" ".join(words[::-1]) + "\n" for words in sources))


def _binarise(folder: Path) -> None:
    texts = [argument for split in SENTENCES for argument in (f"--{split}pref", folder / split)]
    done = run_fairseq(
        "preprocess", "-s", "src", "-t", "tgt", "--joined-dictionary", *texts, "--destdir", folder / "data-bin"
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def run(once: Once, fairseq: Command, user_dir: Path, toy_corpus: Path) -> Path:
    """Checkpoints of five epochs of a tiny model, and train.log."""
    return once("tiny_run", Training(fairseq, user_dir, toy_corpus))


@pytest.fixture(scope="session")
def text_corpus(once: Once, user_dir: Path) -> Path:
    """Data-bins of one text: input0, its label, and questions."""
    return once("text_corpus", lambda folder: text_corpora.write(folder, user_dir))


@pytest.fixture(scope="session")
def trial_corpus(once: Once) -> Path:
    """data-bin of the trials of reliability."""

    def build(folder: Path) -> None:
        with commands.starting_forks():
            trainings.corpus(folder)

    return once("trial_corpus", build) / "data-bin"


@pytest.fixture(scope="session")
def compat_answers(once: Once, user_dir: Path) -> Callable[[str], dict[str, Any]]:
    """compat_answers("stock" or "patched") -> what each probe of that fairseq answers."""
    helpers, program = Path(__file__).parent / "helpers", "from faults import compat_probes; compat_probes.main()"

    def answers(which: str) -> dict[str, Any]:
        def ask(folder: Path) -> None:
            words = [commands.python_of_forks(), "-c", program, str(folder), which]
            done = commands.run(words, folder=helpers, environment={"PYTHONPATH": str(user_dir.parent)})
            assert done.returncode == 0, done.stderr
            (folder / "answers.json").write_text(done.stdout)

        loaded: dict[str, Any] = json.loads((once(f"probes_of_{which}", ask) / "answers.json").read_text())
        return loaded

    return answers
