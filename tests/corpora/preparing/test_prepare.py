"""The command itself: killed in every stage and run again, its report, and what it refuses."""

import gzip
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from programs import argv, commands
from programs.program import realformer_nmt

from realformer_nmt import cli
from realformer_nmt.corpora.manifest import load
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.subwords.subword_methods import LEARNT

WORDS = [a + b + c for a in "bdfgk" for b in "aeiou" for c in "lmnrs"]
STAGES = ("text", "subwords", "pieces", "data-bin")


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
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


def words(folder: Path, options: list[object], *more: object) -> list[str]:
    return list(map(str, ["prepare", *options, "--folder", folder, "--workers", 1, *more]))


def prepare(folder: Path, options: list[object], *more: object) -> int:
    with commands.starting_forks():
        return cli.main(words(folder, options, *more))


def hashes(folder: Path) -> dict[str, str]:
    digests: dict[str, str] = json.loads((folder / "prepare.json").read_text("utf-8"))["sha256"]
    return digests


@pytest.fixture(scope="module")
def undisturbed(options: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert prepare(folder, options) == 0
    return folder


def killed_in(stage: str, folder: Path, options: list[object]) -> None:
    """Kill `prepare` in a stage, but not a fork of this process, which could keep tqdm's lock from us for ever."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["realformer_nmt.corpora.preparing.prepare"])
    process = server.Process(target=run_until, args=(stage, words(folder, options)))
    process.start()
    process.join(timeout=60)
    assert process.exitcode == -signal.SIGKILL
    assert list(folder.glob(f"{stage}.*.part"))
    assert not (folder / "stages" / f"{stage}.json").exists()


def run_until(stage: str, tokens: list[str]) -> None:
    """Run a command and kill it as it opens the first file within a stage's unfinished folder."""
    number, within = os.getpid(), re.compile(rf"/{stage}\.\w+\.part/")

    def kill(event: str, details: tuple[object, ...]) -> None:
        if event == "open" and within.search(str(details[0])):
            os.kill(number, signal.SIGKILL)

    sys.addaudithook(kill)
    cli.main(tokens)


def test_killed_in_every_stage_and_run_again_it_makes_the_same(
    options: list[object], undisturbed: Path, tmp_path: Path
) -> None:
    for stage in STAGES:
        killed_in(stage, tmp_path, options)
        assert not (tmp_path / "prepare.json").exists()
    done = realformer_nmt("prepare", *options, "--folder", tmp_path, "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'prepare.json'}\n"
    assert hashes(tmp_path) == hashes(undisturbed)
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    raw = {f"{split}.raw.{language}" for split in ("valid", "test") for language in ("en", "de")}
    assert names == {"data-bin", "subwords", "stages", "prepare.json"} | raw


def test_the_report_counts_what_was_dropped(options: list[object], undisturbed: Path) -> None:
    report = json.loads((undisturbed / "prepare.json").read_text("utf-8"))
    assert report["pairs"] == {"train": 297, "valid": 20, "test": 9}
    assert report["parts"][0]["dropped"] == {"empty": 2, "too_long": 1}
    assert report["vocabulary"] == 420
    assert set(report["seconds"]) == set(STAGES)
    source = Path(str(options[options.index("--test") + 1]))
    assert (undisturbed / "test.raw.en").read_bytes() == source.read_bytes()
    symbols = (undisturbed / "data-bin" / "dict.en.txt").read_text("utf-8").split("\n")[:-1]
    assert len(symbols) == 420 - 4


def test_without_a_vocabulary_a_small_text_has_as_many_subwords_as_it_allows(
    options: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_default = [option for option in options if option not in ("--vocabulary", 420)]
    assert prepare(tmp_path / "default", by_default) == 0
    size = json.loads((tmp_path / "default/prepare.json").read_text("utf-8"))["vocabulary"]
    assert f"vocabulary of {size}: the text has no more subwords\n" in capsys.readouterr().err
    assert len((tmp_path / "default/data-bin/dict.en.txt").read_text("utf-8").splitlines()) == size - 4
    assert prepare(tmp_path / "given", by_default, "--vocabulary", size) == 0
    assert hashes(tmp_path / "given") == hashes(tmp_path / "default")
    assert prepare(tmp_path / "more", by_default, "--vocabulary", size + 1) == 1
    assert f"Give --vocabulary {size} or less" in capsys.readouterr().err


def test_further_test_sets_are_subsets_of_their_own(options: list[object], undisturbed: Path, tmp_path: Path) -> None:
    """test1 of the text of valid: the same pieces. All else stays as it was.

    When `stages` is removed, as messages advise, and all is prepared again without test1, its raw texts are not listed.
    """
    valid = options[options.index("--valid") + 1 : options.index("--valid") + 3]
    assert prepare(tmp_path, options, "--test", *valid) == 0
    report = json.loads((tmp_path / "prepare.json").read_text("utf-8"))
    assert report["pairs"] == {"train": 297, "valid": 20, "test": 9, "test1": 20}
    assert [part["split"] for part in report["parts"]] == ["train", "valid", "test", "test1"]
    before, after = hashes(undisturbed), hashes(tmp_path)
    assert {name: after[name] for name in before} == before
    for language in ("en", "de"):
        for ending in ("bin", "idx"):
            name = f"en-de.{language}.{ending}"
            assert after[f"data-bin/test1.{name}"] == before[f"data-bin/valid.{name}"]
        assert after[f"test1.raw.{language}"] == before[f"valid.raw.{language}"]
    shutil.rmtree(tmp_path / "stages")
    assert prepare(tmp_path, options) == 0
    assert hashes(tmp_path) == before


def state(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.name not in (folder.name, ".lock")}


def test_what_is_done_is_not_done_again(options: list[object], undisturbed: Path) -> None:
    before = state(undisturbed)
    assert prepare(undisturbed, options, "--workers", 2) == 0
    assert state(undisturbed) == before
    assert json.loads((undisturbed / "prepare.json").read_text("utf-8"))["workers"] == 1


def test_a_result_that_was_cut_off_or_removed_is_noticed(
    options: list[object], undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(undisturbed, folder)
    with (folder / "data-bin" / "train.en-de.en.bin").open("r+b") as file:
        file.truncate(100)
    assert prepare(folder, options) == 1
    error = capsys.readouterr().err
    assert "train.en-de.en.bin has 100 bytes, and had " in error
    assert "remove the folder `stages`" in error
    shutil.rmtree(folder / "data-bin")
    assert prepare(folder, options) == 1
    assert "data-bin was made but no longer exists" in capsys.readouterr().err


def test_other_settings_or_files_in_the_same_folder_are_refused(
    options: list[object], undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(undisturbed, options, "--deduplicate") == 1
    assert "deduplicate was False, is now True" in capsys.readouterr().err
    place = options.index("--test") + 1
    other = tmp_path / "other.en"
    other.write_bytes(Path(str(options[place])).read_bytes()[:-2] + b"x\n")
    assert prepare(undisturbed, [*options[:place], other, *options[place + 1 :]]) == 1
    error = capsys.readouterr().err
    assert "--test SOURCE is another file. Give" in error
    assert error.count("\n") == 1


def test_what_was_prepared_is_verified_on_request(
    undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(undisturbed, folder)
    words = ["prepare", "--folder", str(folder), "--verify"]
    assert cli.main(words) == 0
    assert capsys.readouterr().out == f"{folder}: {len(hashes(folder))} files are as they were prepared\n"
    for name in ("data-bin/train.en-de.de.bin", "data-bin/dict.en.txt", "test.raw.de", "subwords/sentencepiece.model"):
        file = folder / name
        whole = file.read_bytes()
        file.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
        assert cli.main(words) == 1
        assert f"realformer-nmt: {file} has changed, says {folder / 'prepare.json'}" in capsys.readouterr().err
        file.write_bytes(whole)
    (folder / "data-bin" / "train1.en-de.de.bin").touch()
    assert cli.main(words) == 1
    assert "train1.en-de.de.bin was not prepared with the rest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give CORPUS (iwslt14_de_en"),
        (["nowhere"], "nowhere"),
        (["multi30k_en_de", "--source", "en"], "either a corpus or your own files"),
        (["--source", "en", "--target", "de", "--train", "a", "b"], "either --valid SOURCE TARGET or --held-out N"),
        (["--source", "en", "--target", "en", "--train", "a", "b", "--held-out", "9"], "two different names"),
        (["--source", "en", "--target", "de", "--train", "absent", "b", "--held-out", "9"], "absent: No such file"),
        (["--source", "en", "--target", "de", "--train", "a", "b", "--held-out", "1"], "allowed is 2 or more"),
        (
            ["--source", "en", "--target", "de", "--train", "a", "b", "--held-out", "9", "--archives", "absent"],
            "--archives absent: your own files have no archives; leave it out or give CORPUS",
        ),
        (["--source", "en", "--target", "de", "--train", "a.de", "a.en", "--held-out", "9"], "swap the files, or the"),
        (["multi30k_en_de", "--min-length", "0"], "--min-length 0: allowed is 1 or more"),
        (["multi30k_en_de", "--workers", "0"], "allowed is 1 to 1,024"),
    ],
)
def test_what_cannot_be_is_reported(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["prepare", *words, "--folder", str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err


def test_options_change_the_manifests_protocol_and_nothing_else() -> None:
    from realformer_nmt.corpora.preparing.prepare_job import job

    corpus = load("wmt14_en_de")
    for method in LEARNT:
        plain = job(argv.read(PrepareRequest, "wmt14_en_de", "--folder", "x", "--subwords", method))
        assert plain.plan.protocol == corpus.protocol
        assert plain.vocabulary == {"sentencepiece": 32_000, "moses_bpe": corpus.protocol.bpe}[method]
    changed = job(
        argv.read(PrepareRequest, "wmt14_en_de", "--folder", "x", "--ratio", "2.5", "--normalise-test")
    ).plan.protocol
    assert (changed.lengths.ratio, changed.normalise_test) == (2.5, True)
    assert (changed.lengths.max, changed.normalise_punctuation) == (corpus.protocol.lengths.max, True)
