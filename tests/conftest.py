"""What all tests share: a toy corpus binarised by fairseq-preprocess, and fairseq's commands as subprocesses."""

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

LETTERS = list("abcdefghijkl")
SENTENCES = {"train": 2000, "valid": 203, "test": 61}  # none of them a multiple of 8 but train
Command = Callable[..., subprocess.CompletedProcess[str]]


def run_fairseq(command: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `fairseq-<command>` of this interpreter's environment; a hang fails after five minutes."""
    program = Path(sysconfig.get_path("scripts"), f"fairseq-{command}")
    return subprocess.run(
        [str(program), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


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
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def toy_corpus(shared_folder: Path) -> Path:
    """data-bin of a reversal task, languages src and tgt, one dictionary; its text stands beside it as train.src ..."""
    folder = shared_folder / "toy_corpus"
    with FileLock(f"{folder}.lock"):
        if not (folder / "data-bin" / "complete").exists():
            _write_reversals(folder)
            _binarise(folder)
            (folder / "data-bin" / "complete").touch()
    return folder / "data-bin"


def _write_reversals(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
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
