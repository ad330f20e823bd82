"""The run that translations and scores are of."""

from pathlib import Path

import pytest
from fixture_types import Command, Once
from tiny_models.tiny_run import Training


@pytest.fixture(scope="session")
def run(once: Once, fairseq: Command, user_dir: Path, toy_corpus: Path) -> Path:
    """Checkpoints of five epochs, and train.log."""
    return once("tiny_run", Training(fairseq, user_dir, toy_corpus))
