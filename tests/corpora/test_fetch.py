import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from texts.archive_server import ArchiveServer, Fault
from texts.miniature import Miniature, miniature, pack, served
from texts.single_archive import Waits

from realformer_nmt import cli
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.fetch import extracted_files, fetch, fetch_texts
from realformer_nmt.corpora.manifest import load, shipped

NEWS = "/wmt14_en_de/https.statmt.org/wmt14/test-full.tgz"


@pytest.fixture(autouse=True)
def _two_delays(waits: Waits) -> None:
    waits.plan(0, 0)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ArchiveServer]:
    with ArchiveServer(tmp_path / "site") as server:
        yield server


@pytest.fixture
def tiny(server: ArchiveServer) -> Miniature:
    return miniature(load("wmt14_en_de"), server.folder, server.url, pairs=8)


@pytest.mark.parametrize("name", shipped())
def test_every_text_of_every_shipped_corpus_comes_as_it_was_packed(
    server: ArchiveServer, tmp_path: Path, name: str
) -> None:
    tiny = miniature(load(name), server.folder, server.url, pairs=8)
    corpus = load(tiny.manifest)
    texts = fetch_texts(corpus, tmp_path / "data")
    assert {member: text.read_bytes() for member, text in texts.items()} == tiny.content
    assert server.counts() == {f"/{name}/{served(archive.packings[0].urls[0])}": 1 for archive in load(name).archives}
    server.requests.clear()
    assert fetch_texts(corpus, tmp_path / "data") == texts
    assert server.requests == []


def test_the_files_of_an_extraction_are_known_by_the_corpus_alone(tiny: Miniature, tmp_path: Path) -> None:
    corpus, folder = load(tiny.manifest), tmp_path / "data"
    fetch_texts(corpus, folder)
    files = {str(path.relative_to(folder)) for path in (folder / "texts").rglob("*") if path.is_file()}
    assert files == set(extracted_files(corpus))


def test_archives_that_are_there_are_used_where_they_are(
    server: ArchiveServer, tiny: Miniature, tmp_path: Path
) -> None:
    """An archive may have its server's name, dev.tgz, or the one that it has here, wmt17-dev.tgz."""
    folder, corpus = tmp_path / "own", load(tiny.manifest)
    folder.mkdir()
    for archive in corpus.archives:
        source = server.folder / archive.packings[0].urls[0].removeprefix(f"{server.url}/")
        (folder / source.name).write_bytes(source.read_bytes())
    paths = {name: file for name, (file, _) in fetch(corpus, tmp_path / "data", folder).items()}
    assert {path.parent for path in paths.values()} == {folder}
    assert paths["dev"] == folder / "dev.tgz"
    assert not (tmp_path / "data").exists()
    assert server.requests == []


def test_a_wrong_archive_of_ones_own_is_an_error_before_anything_is_downloaded(
    server: ArchiveServer, tiny: Miniature, tmp_path: Path
) -> None:
    corpus = load(tiny.manifest)
    wrong = tmp_path / "test-full.tgz"
    wrong.write_bytes(b"wrong")
    digest = hashlib.md5(b"wrong", usedforsecurity=False).hexdigest()
    expected = corpus.archives[-1].packings[0].md5
    message = f"archive newstest2014: .*: {wrong}: md5 is {digest}, expected is {expected}; move it elsewhere"
    with pytest.raises(UserError, match=message):
        fetch(corpus, tmp_path / "data", tmp_path)
    (tmp_path / "training-parallel-commoncrawl.tgz").write_bytes(b"wrong")
    with pytest.raises(UserError, match=r"commoncrawl\.tgz: has 5 bytes, expected are [\d,]+"):
        fetch(corpus, tmp_path / "data", tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "wmt17-dev.tgz").write_bytes(b"spoilt")
    with pytest.raises(UserError, match="archive dev: another file has its name"):
        fetch(corpus, tmp_path / "data")
    with pytest.raises(UserError, match=r"--archives .*nowhere is not a folder"):
        fetch(corpus, tmp_path / "data", tmp_path / "nowhere")
    assert server.requests == []


def test_another_years_dev_archive_is_passed_over(tiny: Miniature, tmp_path: Path) -> None:
    (tmp_path / "dev.tgz").write_bytes(b"another year's")
    files = fetch(load(tiny.manifest), tmp_path / "data", tmp_path)
    assert files["dev"].path == tmp_path / "data" / "wmt17-dev.tgz"


def test_without_the_tgz_the_zip_of_another_host_is_taken(
    server: ArchiveServer, tiny: Miniature, tmp_path: Path
) -> None:
    for file in server.folder.rglob("*.tgz"):
        if "full" not in file.name:
            file.unlink()
    corpus = load(tiny.manifest)
    files = fetch(corpus, tmp_path / "data")
    assert [file.path.suffix for file in files.values()] == [".zip", ".zip", ".zip", ".zip", ".tgz"]
    texts = fetch_texts(corpus, tmp_path / "data", tmp_path / "data")
    assert {member: text.read_bytes() for member, text in texts.items()} == tiny.content


def test_if_no_url_delivers_each_is_listed_with_its_reason(
    server: ArchiveServer, tiny: Miniature, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.always(NEWS, Fault(status=403))
    server.always(NEWS.replace("https.statmt", "https.www.statmt"), Fault(damage=True))
    server.always(NEWS.replace("https.statmt", "http.statmt"), Fault(cut_after=0))
    with pytest.raises(UserError) as caught:
        fetch(load(tiny.manifest), tmp_path / "data")
    first, *reasons, last = re.split("(?<=delivers it:) |; ", str(caught.value))
    assert first == "archive newstest2014: no URL delivers it:"
    assert [reason.split(": ")[0].strip() for reason in reasons] == [
        server.url + NEWS.replace("https.", host) for host in ("https.", "https.www.", "http.")
    ]
    for reason, word in zip(reasons, ("HTTP status 403", "md5 is", "(3 attempts)"), strict=True):
        assert word in reason
    assert last == "put test-full.tgz into --archives DIR"
    assert capsys.readouterr().err.count("; again in 0 s\n") == 2
    assert not (tmp_path / "data" / "test-full.tgz").exists()
    assert not (tmp_path / "data" / "test-full.tgz.part").exists()


def test_the_command_says_where_each_text_is(
    server: ArchiveServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = pack("a.tgz", {"small.en": b"small\n", "large.de": b"large\n"})
    server.folder.mkdir()
    (server.folder / "a.tgz").write_bytes(packed)
    manifest, data = tmp_path / "own.toml", tmp_path / "data"
    manifest.write_text(f"""
base = "multi30k_en_de"
valid = []
test = []
train = [{{ source = "a:small.en", target = "a:large.de" }}]
held_out = {{ every = 2, counted = "before_cleaning" }}
[[archives.a]]
urls = ["{server.url}/a.tgz"]
sha256 = "{hashlib.sha256(packed).hexdigest()}"
""")
    text = data / "texts" / "a"
    assert cli.main(["fetch", str(manifest), "--folder", str(data)]) == 0
    assert capsys.readouterr().out == f"a:small.en\t{text / 'small.en'}\na:large.de\t{text / 'large.de'}\n"
    assert (text / "large.de").read_bytes() == b"large\n"
    assert not [*data.rglob("*.part")]
