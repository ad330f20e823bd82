"""One tiny model for all tests of serving."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.tiny_run import Training

import realformer_nmt
from realformer_nmt.serving.translator import Translator


@pytest.fixture(scope="module")
def run(once: Callable[..., Path], fairseq: Any, user_dir: Path, toy_corpus: Path) -> Path:
    return once("tiny_run", Training(fairseq, user_dir, toy_corpus))


@pytest.fixture(scope="module")
def texts(toy_corpus: Path) -> list[str]:
    return (toy_corpus.parent / "test.src").read_text().splitlines()


@pytest.fixture(scope="module")
def model(run: Path, toy_corpus: Path) -> Translator:
    return realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True)
