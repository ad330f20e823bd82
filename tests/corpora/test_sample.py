"""A share of a prepared corpus, as fairseq reads it."""

import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fairseq.data import indexed_dataset
from msgspec import to_builtins

from realformer_nmt import subcommands
from realformer_nmt.common.files import json_records
from realformer_nmt.corpora import sample as sampling
from realformer_nmt.data_bins.file_checks import NAME, describe, verify

pytestmark = pytest.mark.usefixtures("forks")

PAIRS = 40


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampling")
    texts = []
    for split, number in (("train", PAIRS), ("valid", 5), ("test", 5)):
        for language in ("en", "de"):
            file = folder / f"{split}.{language}"
            file.write_text("".join(f"{language} {' '.join('abcdefgh'[i % 8 :])} {i}\n" for i in range(number)))
        texts += [f"--{split}", f"{folder}/{split}.en", f"{folder}/{split}.de"]
    how = ["--source", "en", "--target", "de", "--subwords", "moses_bpe", "--vocabulary", "60", "--workers", "1"]
    assert subcommands.main(["prepare", *texts, *how, "--folder", str(folder / "all"), "--quiet"]) == 0
    return folder / "all"


def sample(prepared: Path, folder: Path, share: object) -> int:
    return subcommands.main(["sample", str(prepared), "--share", str(share), "--folder", str(folder)])


def sentences(folder: Path, split: str, language: str) -> list[bytes]:
    data = indexed_dataset.MMapIndexedDataset(str(folder / "data-bin" / f"{split}.en-de.{language}"))
    return [data[place].numpy().tobytes() for place in range(len(data))]


def test_pairs_stay_pairs_and_a_smaller_share_is_part_of_a_larger(prepared: Path, tmp_path: Path) -> None:
    whole = list(zip(*(sentences(prepared, "train", language) for language in ("en", "de")), strict=True))
    samples = []
    for share in (0.25, 0.5):
        folder = tmp_path / f"{share}"
        assert sample(prepared, folder, share) == 0
        samples.append(list(zip(*(sentences(folder, "train", language) for language in ("en", "de")), strict=True)))
        assert len(samples[-1]) == share * PAIRS
        note = json_records.read(folder / NAME, "")
        assert note["pairs"] == {"train": len(samples[-1]), "valid": 5, "test": 5}
        assert {name: counts["pairs"] for name, counts in note["pieces"].items()} == {"valid": 5, "test": 5}
        for split in ("valid", "test"):
            assert sentences(folder, split, "de") == sentences(prepared, split, "de")
        assert verify(folder) == verify(prepared)
    small, large = samples
    assert len(set(whole)) == PAIRS
    assert set(small) < set(large) < set(whole)
    assert small == [pair for pair in whole if pair in small]


def test_places_are_spread_over_the_whole_text() -> None:
    """Three gaps at most lie between them (the three-gap theorem, Sos 1958), the largest the sum of the others."""
    for share in (0.01, 0.1, 0.37, 0.9):
        places = sampling.sample_indices(100_000, share)
        assert len(places) == round(share * 100_000)
        gaps = sorted(set(np.diff(places).tolist()))
        assert len(gaps) <= 3
        assert len(gaps) < 3 or gaps[2] == gaps[0] + gaps[1]


def test_sampled_once_and_no_other_pairs_are_taken_for_it(
    prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sample(prepared, tmp_path / "half", 0.5) == 0
    before = (tmp_path / "half" / NAME).stat().st_mtime_ns
    assert sample(prepared, tmp_path / "half", 0.5) == 0
    assert (tmp_path / "half" / NAME).stat().st_mtime_ns == before
    assert "up to date" in capsys.readouterr().out
    assert sample(prepared, tmp_path / "half", float(Fraction(1, 4))) == 1
    assert f"{tmp_path}/half holds other pairs" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["1", "1e-9"])
def test_a_share_that_is_none_is_refused(
    share: str, prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sample(prepared, tmp_path / "none", share) == 1
    assert f"--share {float(share)}" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_corpus_without_training_pairs_is_refused(
    prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = shutil.copytree(prepared, tmp_path / "test")
    for file in (test / "data-bin").glob("train.*"):
        file.unlink()
    files = describe(test, [path for path in test.glob("*/*") if path.parent.name != "stages"])
    json_records.write_sealed(test / NAME, {**json_records.read(test / NAME, ""), **to_builtins(files)})
    assert sample(test, tmp_path / "half", 0.5) == 1
    assert f"{tmp_path}/test has no training pairs" in capsys.readouterr().err
    assert not (tmp_path / "half").exists()
