"""IWSLT'14 from its archive to a data-bin: talks between lines of metadata, test sets in XML, an md5 alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from texts.archive_server import ArchiveServer
from texts.miniature import Miniature, miniature

from realformer_nmt import cli
from realformer_nmt.corpora.manifest import load
from realformer_nmt.corpora.manifest_schema import Corpus

pytestmark = pytest.mark.usefixtures("forks")

PAIRS = 60  # of each of the six parts
EVERY = 23


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load("iwslt14_de_en")


@pytest.fixture(scope="module")
def prepared(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Miniature, Path]:
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("data")
    with ArchiveServer(site) as server:
        tiny = miniature(corpus, site, server.url, PAIRS, settings="[protocol]\nbpe = 100\n")
        words = ["prepare", tiny.manifest, "--folder", folder, "--subwords", "moses_bpe", "--workers", "1", "--keep"]
        assert cli.main(list(map(str, words))) == 0
    return tiny, folder


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_every_23rd_pair_is_validation_and_five_sets_make_the_test_set(
    corpus: Corpus, prepared: tuple[Miniature, Path]
) -> None:
    tiny, folder = prepared
    (train,) = corpus.train
    for side, language in (("source", "de"), ("target", "en")):
        segments = tiny.segments[getattr(train, side)]
        assert lines(folder / f"valid.raw.{language}") == segments[EVERY - 1 :: EVERY]
        tests = [line for part in corpus.test for line in tiny.segments[getattr(part, side)]]
        assert lines(folder / f"test.raw.{language}") == tests
        train_lines = [line.lower() for place, line in enumerate(segments, 1) if place % EVERY]
        assert [line.replace(" ", "") for line in lines(folder / f"text/train.{language}")] == [
            line.replace(" ", "") for line in train_lines
        ]
    assert len(corpus.test) == 5


def test_the_data_bin_holds_all_of_it_in_lower_case(prepared: tuple[Miniature, Path]) -> None:
    report: dict[str, Any] = json.loads((prepared[1] / "prepare.json").read_text(encoding="utf-8"))
    valid = PAIRS // EVERY
    assert report["pairs"] == {"train": PAIRS - valid, "valid": valid, "test": 5 * PAIRS}
    assert [part["pairs"] for part in report["parts"]] == [PAIRS] * 6
    joined = [(prepared[1] / f"data-bin/dict.{language}.txt").read_text(encoding="utf-8") for language in ("de", "en")]
    assert joined[0] == joined[1] == joined[0].lower()
