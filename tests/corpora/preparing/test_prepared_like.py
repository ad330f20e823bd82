"""Other text prepared like a corpus: its pieces and numbers against the first one's own subwords and dictionaries."""

import filecmp
import json
import re
import shutil
from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils
from programs import argv, commands
from sentencepiece import SentencePieceProcessor

from realformer_nmt import cli
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.preparing import prepare_job
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest

LETTERS = "abcdefghij"


def write(folder: Path, pairs: int, step: int) -> list[str]:
    """Files of words of two to four letters, other ones for each step."""
    folder.mkdir()
    words = ["".join(LETTERS[(n * step + k) % 10] for k in range(2 + n % 3)) for n in range(pairs * 4)]
    lines = [" ".join(words[start : start + 4]) for start in range(0, len(words), 4)]
    for language, text in (("en", lines), ("de", [line[::-1] for line in lines])):
        (folder / f"train.{language}").write_text("".join(f"{line}\n" for line in text))
    return ["--train", str(folder / "train.en"), str(folder / "train.de"), "--held-out", "9"]


def prepare(folder: Path, *options: object) -> int:
    with commands.starting_forks():
        return cli.main(["prepare", "--folder", str(folder), "--workers", "1", "--quiet", *map(str, options)])


@pytest.fixture(scope="module", params=["sentencepiece", "moses_bpe"])
def first(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    pair = ("--source", "en", "--target", "de", "--no-normalise-test", "--subwords", request.param, "--vocabulary", 300)
    size = pair if request.param == "sentencepiece" else (*pair[:-1], 20)
    assert prepare(folder / "made", *write(folder / "text", 60, 3), *size) == 0
    return folder


def test_subwords_and_dictionaries_are_the_first_ones(first: Path) -> None:
    assert prepare(first / "more", "--like", first / "made", *write(first / "other", 40, 7)) == 0
    names = [f"subwords/{file.name}" for file in (first / "made/subwords").iterdir()]
    names += ["data-bin/dict.en.txt", "data-bin/dict.de.txt"]
    assert filecmp.cmpfiles(first / "made", first / "more", names, shallow=False) == (names, [], [])
    one, other = (json.loads((first / name / "prepare.json").read_text()) for name in ("made", "more"))
    for name in ("source", "target", "subwords", "vocabulary"):
        assert other[name] == one[name], name
    words = Dictionary.load(str(first / "made/data-bin/dict.en.txt"))
    text = data_utils.load_indexed_dataset(str(first / "more/data-bin/train.en-de.en"), words)
    lines = (first / "other/train.en").read_text().splitlines()
    pieces = [words.string(text[number]) for number in range(len(text))]
    joined = [line.replace("@@ ", "").replace(" ", "").replace("\u2581", " ").strip() for line in pieces]
    expected = [line for number, line in enumerate(lines, 1) if number % 9]
    if (first / "made/subwords/sentencepiece.model").exists():
        model = SentencePieceProcessor(model_file=str(first / "made/subwords/sentencepiece.model"))
        assert pieces == [" ".join(model.encode(line, out_type=str)) for line in expected]
    else:
        assert joined == [line.replace(" ", "") for line in expected]


def test_own_test_sets_are_normalised_unlike_the_corpus_ones(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = argv.read(PrepareRequest, "--folder", "new", "--like", first / "made", *write(first / "third", 9, 7))
    assert not prepare_job.job(request).plan.protocol.normalise_test
    monkeypatch.setattr(prepare_job, "shipped", lambda: ["own files"])
    assert prepare_job.job(request).plan.protocol.normalise_test


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--subwords", "sentencepiece"], "--subwords sentencepiece and --like .*: the folder says it; leave it out"),
        (["--vocabulary", "40"], "--vocabulary 40 and --like"),
        (["multi30k_en_de"], "CORPUS multi30k_en_de and --like"),
        (["--like", "absent"], "absent/prepare.json: no such file"),
    ],
)
def test_what_the_folder_says_is_not_said_again(
    options: list[str], message: str, first: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(first / "none", "--like", first / "made", *options) == 1
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("places", ["data-bin/dict.de.txt", "subwords/[!d]*"], ids=["dictionary", "subwords"])
def test_a_file_of_the_same_size_that_has_changed_is_not_taken_over(
    places: str, first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(first / "made", tmp_path / "changed")
    (file,) = folder.glob(places)
    content = file.read_bytes()
    file.write_bytes(content[:-9] + content[-9:].swapcase()[::-1])
    assert prepare(tmp_path / "none", "--like", folder, *write(tmp_path / "text", 20, 1)) == 1
    assert f"{file} has changed" in capsys.readouterr().err


def test_text_is_not_split_by_subwords_that_have_changed(first: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(first / "made", tmp_path / "changed")
    file = next(file for file in (folder / "subwords").iterdir() if file.name != "dictionary.txt")
    content = file.read_bytes()
    file.write_bytes(content[:-9] + content[-9:].swapcase()[::-1])
    with pytest.raises(UserError, match=f"{file} has changed"):
        text_pipeline.read(folder).pieces(b"abc\n")
