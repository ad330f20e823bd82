"""One tiny model for all tests of serving, and a server of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pages.serving_client import Client, serving

import realformer_nmt
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

LIMITS = Limits(most_bytes=20_000, most_texts=61, most_characters=3_000, most_beam=5)


@pytest.fixture(scope="module")
def texts(toy_corpus: Path) -> list[str]:
    return (toy_corpus.parent / "test.src").read_text().splitlines()


@pytest.fixture(scope="module")
def model(run: Path, toy_corpus: Path) -> Translator:
    return realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True)


@pytest.fixture(scope="module")
def served(model: Translator) -> dict[str, Served]:
    return {"tiny": Served("tiny", model, "fp32", "realformer", (2, 2))}


@pytest.fixture(scope="module")
def client(served: dict[str, Served]) -> Iterator[Client]:
    with serving(served, LIMITS) as http_client:
        yield http_client
