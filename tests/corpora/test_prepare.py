"""The command itself: killed in every stage and run again, its report, and what it refuses."""

import argparse
import gzip
import json
import multiprocessing
import shutil
import signal
import time
from pathlib import Path

import pytest
from program import realformer_nmt

from realformer_nmt import cli
from realformer_nmt.corpora.manifest import load
from realformer_nmt.corpora.stages import Stages
from realformer_nmt.corpora.subwords import METHODS

WORDS = [a + b + c for a in "bdfgk" for b in "aeiou" for c in "lmnrs"]
STAGES = ("text", "subwords", "pieces", "data-bin")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Options for files of one's own: 300 pairs of which 3 are dropped, validation and test data."""
    folder = tmp_path_factory.mktemp("own")
    arguments: list[object] = ["--source", "en", "--target", "de"]
    for split, number in ("train", 300), ("valid", 20), ("test", 9):
        lines = [" ".join(WORDS[(n * k) % 125] for k in range(1, 2 + n % 7)) for n in range(number)]
        if split == "train":
            lines[7], lines[8], lines[9] = "", "a " * 251, "\r"
        lines[3] += "\u2028\u201equoted\u201c\u00a0\u00ad!"
        source, target = folder / f"{split}.en", folder / f"{split}.de.gz"
        source.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
        target.write_bytes(gzip.compress("".join(f"{line[::-1] or 'x'}\n" for line in lines).encode()))
        arguments += [f"--{split}", source, target]
    return [*arguments, "--vocabulary", 420, "--quiet"]


def words(folder: Path, own: list[object], *more: object) -> list[str]:
    return list(map(str, ["prepare", *own, "--folder", folder, "--workers", 1, *more]))


def prepare(folder: Path, own: list[object], *more: object) -> int:
    return cli.main(words(folder, own, *more))


def hashes(folder: Path) -> dict[str, str]:
    made: dict[str, str] = json.loads((folder / "prepare.json").read_text("utf-8"))["sha256"]
    return made


@pytest.fixture(scope="module")
def undisturbed(own: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert prepare(folder, own) == 0
    return folder


def killed_in(stage: str, folder: Path, own: list[object]) -> None:
    """Not forked from this process: killed while it holds tqdm's lock, a fork would hold it for us too, for ever."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["realformer_nmt.corpora.prepare"])
    process = server.Process(target=cli.main, args=(words(folder, own),))
    process.start()
    while process.is_alive() and not list(folder.glob(f"{stage}.partial-*")):
        time.sleep(0.0005)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not (folder / "stages" / f"{stage}.json").exists()


def test_killed_in_every_stage_and_run_again_it_makes_the_same(
    own: list[object], undisturbed: Path, tmp_path: Path
) -> None:
    for stage in STAGES:
        killed_in(stage, tmp_path, own)
        assert not (tmp_path / "prepare.json").exists()
    done = realformer_nmt("prepare", *own, "--folder", tmp_path, "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'prepare.json'}\n"
    assert hashes(tmp_path) == hashes(undisturbed)
    kept = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    raw = {f"{split}.raw.{language}" for split in ("valid", "test") for language in ("en", "de")}
    assert kept == {"data-bin", "subwords", "stages", "prepare.json"} | raw


def test_the_report_counts_what_was_dropped(own: list[object], undisturbed: Path) -> None:
    report = json.loads((undisturbed / "prepare.json").read_text("utf-8"))
    assert report["pairs"] == {"train": 297, "valid": 20, "test": 9}
    assert report["parts"][0]["dropped"] == {"empty": 2, "too_long": 1}
    assert report["vocabulary"] == 420
    assert set(report["seconds"]) == set(STAGES)
    source = Path(str(own[own.index("--test") + 1]))
    assert (undisturbed / "test.raw.en").read_bytes() == source.read_bytes()
    symbols = (undisturbed / "data-bin" / "dict.en.txt").read_text("utf-8").split("\n")[:-1]
    assert len(symbols) == 420 - 4


def state(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.name not in (folder.name, ".lock")}


def test_what_is_done_is_not_done_again(own: list[object], undisturbed: Path) -> None:
    before = state(undisturbed)
    assert prepare(undisturbed, own, "--workers", 2) == 0
    assert state(undisturbed) == before
    assert json.loads((undisturbed / "prepare.json").read_text("utf-8"))["workers"] == 1


def test_a_result_that_was_cut_off_is_noticed(
    own: list[object], undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(undisturbed, folder)
    with (folder / "data-bin" / "train.en-de.en.bin").open("r+b") as file:
        file.truncate(100)
    assert prepare(folder, own) == 1
    error = capsys.readouterr().err
    assert "train.en-de.en.bin has 100 bytes, and " in error
    assert f"to make all again, remove {folder / 'stages'}" in error


def test_a_stage_that_is_done_afresh_makes_the_end_void(tmp_path: Path) -> None:
    end = tmp_path / "prepare.json"
    for expected in (False, True):
        end.touch()
        Stages(tmp_path, {}, end).run("text", lambda _: {})
        assert end.exists() == expected


def test_other_settings_or_files_in_the_same_folder_are_refused(
    own: list[object], undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(undisturbed, own, "--deduplicate") == 1
    assert "deduplicate False, now True" in capsys.readouterr().err
    other = tmp_path / "other.en"
    shutil.copy(str(own[own.index("--test") + 1]), other)
    changed = list(own)
    changed[own.index("--test") + 1] = other
    assert prepare(undisturbed, changed) == 1
    assert "was begun with other settings: test" in capsys.readouterr().err


def test_a_result_that_was_removed_is_missed(
    own: list[object], undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(undisturbed, folder)
    shutil.rmtree(folder / "data-bin")
    assert prepare(folder, own) == 1
    assert "data-bin was made but is gone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give CORPUS (iwslt14_de_en"),
        (["nowhere"], "nowhere"),
        (["multi30k_en_de", "--source", "en"], "either a corpus or your own files"),
        (["--source", "en", "--target", "de", "--train", "a", "b"], "either --valid SOURCE TARGET or --held-out N"),
        (["--source", "en", "--target", "en", "--train", "a", "b", "--held-out", "9"], "two different names"),
        (["--source", "en", "--target", "de", "--train", "absent", "b", "--held-out", "9"], "absent: No such file"),
        (["--source", "en", "--target", "de", "--train", "a", "b", "--held-out", "1"], "allowed is 2 or more"),
        (["multi30k_en_de", "--min-length", "0"], "allowed is 1 to max"),
        (["multi30k_en_de", "--workers", "0"], "allowed is 1 or more"),
    ],
)
def test_what_cannot_be_is_told(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["prepare", *words, "--folder", str(tmp_path / "out")]) == 1
    assert told in capsys.readouterr().err


def test_options_change_the_manifests_protocol_and_nothing_else() -> None:
    from realformer_nmt.corpora import prepare as command
    from realformer_nmt.corpora.sources import job

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    corpus = load("wmt14_en_de")
    for method in METHODS:
        plain = job(parser.parse_args(["wmt14_en_de", "--folder", "x", "--subwords", method]))
        assert plain.plan.protocol == corpus.protocol
        assert plain.vocabulary == {"sentencepiece": 32_000, "moses_bpe": corpus.protocol.bpe}[method]
    changed = job(
        parser.parse_args(["wmt14_en_de", "--folder", "x", "--ratio", "2.5", "--normalise-test"])
    ).plan.protocol
    assert (changed.lengths.ratio, changed.normalise_test) == (2.5, True)
    assert (changed.lengths.max, changed.normalise_punctuation) == (corpus.protocol.lengths.max, True)
