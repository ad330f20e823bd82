"""Bars are for terminals, which see one in every stage of prepare."""

import io
import re
from pathlib import Path

import pytest
from programs import argv
from texts.archive_server import ArchiveServer
from texts.single_archive import packing

from realformer_nmt.corpora.archives.download import download
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.subwords.subwords import TrainingTexts, learn_model

pytestmark = pytest.mark.usefixtures("forks")

BAR = r": 100%.*{0}/{0} \[\d\d:\d\d<\d\d:\d\d, .*B/s\]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "shown"), [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)]
)
def test_a_bar_with_speed_and_time_left_is_for_terminals(
    server: ArchiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    quiet: bool,
    shown: bool,
) -> None:
    error = stream()
    monkeypatch.setattr("sys.stderr", error)
    download(packing(server), tmp_path, quiet=quiet)
    assert bool(re.search(r"a\.tgz" + BAR.format("2.50M"), error.getvalue())) == shown
    assert bool(error.getvalue()) == shown


def test_every_stage_of_prepare_shows_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = Terminal()
    monkeypatch.setattr("sys.stderr", error)
    files = ["--source", "en", "--target", "de", "--train", *sentences(tmp_path), "--held-out", 20]
    options = ["--workers", 1, "--subwords", "moses_bpe", "--vocabulary", 40, "--folder", tmp_path / "data"]
    assert argv.read(PrepareRequest, *files, *options).run() == 0
    for bar in ("text: text.en", "subwords: reading", "pieces: train", "dictionary: train.de", "data-bin: train.en"):
        assert re.search(re.escape(bar) + BAR.format(r"[\d.]+k"), error.getvalue()), bar
    assert re.search(r"100%.*40/40 \[\d\d:\d\d<\d\d:\d\d, .*it/s\]", error.getvalue())  # of subword-nmt's merges


@pytest.mark.parametrize("quiet", [False, True])
def test_sentencepiece_is_said_to_learn_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool) -> None:
    error = Terminal()
    monkeypatch.setattr("sys.stderr", error)
    learn_model("sentencepiece", TrainingTexts(*sentences(tmp_path), 300, quiet), tmp_path, 330, 1)
    assert ("subwords: sentencepiece is learning; it does not tell how far it is" in error.getvalue()) != quiet
    assert bool(re.search("subwords: reading" + BAR.format(r"[\d.]+k"), error.getvalue())) != quiet


def sentences(folder: Path) -> list[Path]:
    sides = [folder / f"text.{language}" for language in ("en", "de")]
    for side in sides:
        side.write_text("".join(f"{number % 97} words {number % 89} of {side.name}\n" for number in range(300)))
    return sides
