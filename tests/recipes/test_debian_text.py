"""The corpus of Debian's packages: on an archive in miniature, and what its readers make of each format."""

import gettext
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from debian_text import packages
from debian_text.alignment import Block, Pair, align
from debian_text.catalogues import catalogue_pairs, messages
from debian_text.descriptions import description_pairs
from debian_text.manual_pages import read_manual_page
from debian_text.markup import read_page
from debian_text.splits import split_pairs
from figures.pages import record, row, says, table
from programs.program import REPOSITORY
from recipe_scripts.debian_archive import build_package, catalogue, sha256, write_archive

SCRIPT = REPOSITORY / "recipes" / "debian_en_de" / "write_text.py"
DESCRIPTION = "Package: {0}\nDescription-md5: " + "0123" * 8 + "\nDescription-{1}: {2}\n"


def number_of(document: str) -> int:
    return int(hashlib.sha256(document.encode()).hexdigest(), 16) % 1000


TEST, VALID, TRAIN = (
    next(name for name in map("g/p{}.html".format, range(10_000)) if number_of(name) in numbers)
    for numbers in (range(12), range(12, 24), range(24, 1000))
)
PAGES = {
    TEST: ("A page that is held out. The same in both.", "Eine Seite zum Prüfen. Das Gleiche in beiden."),
    VALID: ("Here is another page for validation.", "Hier ist noch eine Seite."),
    TRAIN: ("The same in both! This is trained on.", "Dasselbe in beiden! Das wird gelernt."),
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder with apt.conf, and with the recipe's tables for what the archive holds."""
    pages = {
        f"usr/{language}/{document.removeprefix('g/')}": f"<p>{texts[side]}</p>".encode()
        for document, texts in PAGES.items()
        for side, language in enumerate(("en", "de"))
    }
    messages = {"": "Content-Type: text/plain; charset=UTF-8\n", "_Open the old file": "Die alte Datei ö_ffnen"}
    catalogues = {"usr/share/locale/de/LC_MESSAGES/tool.mo": catalogue(messages), "usr/de/tool.mo": b"->none"}
    built = [build_package(tmp_path, "guide", pages), build_package(tmp_path, "tool", catalogues)]
    texts = {"en": "a tool for old files", "de": "ein Werkzeug für alte Dateien"}
    entries = {language: DESCRIPTION.format("tool", language, text) for language, text in texts.items()}
    write_archive(tmp_path, built, entries)
    lists = [tmp_path / "dists/bookworm/main/i18n" / f"Translation-{language}" for language in ("de", "en")]
    rows = [f"{file.stem}\t1:1.0\t{sha256(file)}\tMIT\n" for file in (*built, *lists)]
    (tmp_path / "packages.tsv").write_text("name\tversion\tsha256\tlicence\n" + "".join(rows))
    head = "name\tenglish_package\tenglish_folder\tgerman_package\tgerman_folder\tending\n"
    (tmp_path / "documents.tsv").write_text(f"{head}g\tguide\tusr/en\tguide\tusr/de\t.html\n")
    (tmp_path / "order.txt").touch()
    return tmp_path


def write_text(archive: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, SCRIPT, "--folder", archive / "text", "--packages", archive / "debs", "--tables", archive]
    settings = {**os.environ, "APT_CONFIG": str(archive / "apt.conf")}
    return subprocess.run(argv, env=settings, capture_output=True, text=True, check=False)


apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="the archive is read by Debian's client")


@apt
def test_an_archive_becomes_a_corpus_and_a_second_run_needs_no_archive(archive: Path) -> None:
    expected = {
        "test.en": "A page that is held out.\n",
        "test.de": "Eine Seite zum Prüfen.\n",
        "valid.en": "Here is another page for validation.\n",
        "train.en": "a tool for old files\nThe same in both!\nThis is trained on.\nOpen the old file\n",
        "train.de": "ein Werkzeug für alte Dateien\nDasselbe in beiden!\nDas wird gelernt.\nDie alte Datei öffnen\n",
    }
    for _ in range(2):
        done = write_text(archive)
        assert done.returncode == 0, done.stderr
        assert {name: (archive / "text" / name).read_text() for name in expected} == expected
        shutil.rmtree(archive / "text")
        shutil.rmtree(archive / "pool", ignore_errors=True)


@apt
def test_another_version_or_content_is_refused_in_one_line(archive: Path) -> None:
    table = (archive / "packages.tsv").read_text()
    (archive / "packages.tsv").write_text(table.replace("tool\t1:1.0", "tool\t1:2.0"))
    refusal = "apt-get download: Version '1:2.0' for 'tool' was not found; this recipe needs Debian 12, "
    assert write_text(archive).stderr.startswith(refusal)
    (archive / "packages.tsv").write_text(table.replace(sha256(archive / "pool" / "tool.deb"), "0" * 64))
    done = write_text(archive)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "debs/tool_1%3a1.0_all.deb: not the SHA-256 of 1:1.0 in packages.tsv: put that version there" in done.stderr


def test_another_system_is_told_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "APT_GET", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match="none or /usr/bin/dpkg-deb: this recipe needs Debian 12, or a container"):
        packages.download([], tmp_path)


def test_a_catalogue_as_pythons_gettext_reads_it() -> None:
    singular, several = "One file is left here", "Many files are left here"
    content = catalogue(
        {
            "": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n!=1;\n",
            "menu\x04<b>Save all files</b>": "<b>Alle Dateien sichern</b>",
            f"{singular}\0{several}": "Eine Datei ist noch da\0Viele Dateien sind noch da",
        }
    )
    pairs = dict(messages(content))
    reference = gettext.GNUTranslations(io.BytesIO(content))
    assert pairs[singular] == reference.ngettext(singular, several, 1)
    assert pairs[several] == reference.ngettext(singular, several, 2)
    assert pairs["<b>Save all files</b>"] == reference.pgettext("menu", "<b>Save all files</b>")
    assert ("Save all files", "Alle Dateien sichern") in catalogue_pairs(content)


def test_a_page_without_its_code() -> None:
    page = b"<body><!-- no --><h1>Files &amp; &brand;</h1><p>Use <b>ls</b>.</p><pre>ls -l</pre><ul><li>One</ul></body>"
    assert read_page(page) == [Block("body/h1", "Files & brand"), Block("body/p", "Use ls."), Block("ul/li", "One")]


def test_a_manual_page_without_examples() -> None:
    page = (
        '.\\" no\n.SH "SEE ALSO"\n.PP\nUse\n.BR ls (1)\nto \\fIlist\\fP it.\n.EX\nls \\-l\n.EE\n.TP\n\\-a\\ \\(em all\n'
    )
    assert read_manual_page(gzip.compress(page.encode())) == [
        Block("SH", "SEE ALSO"),
        Block("PP", "Use ls(1) to list it."),
        Block("TP", "-a \N{EM DASH} all"),
    ]


def test_descriptions_match_by_the_checksum_and_by_paragraphs() -> None:
    text = "a very small tool\n It reads old files.  It writes new files.\n .\n  * with many options\n"
    german = "ein sehr kleines Werkzeug\n Es liest alte Dateien. Es schreibt neue.\n .\n  * mit vielen Optionen\n"
    english = DESCRIPTION.format("tool", "en", text)
    assert [*description_pairs(english, DESCRIPTION.format("tool", "de", german))] == [
        ("ddtp/tool", "a very small tool", "ein sehr kleines Werkzeug"),
        ("ddtp/tool", "It reads old files.", "Es liest alte Dateien."),
        ("ddtp/tool", "It writes new files.", "Es schreibt neue."),
        ("ddtp/tool", "* with many options", "* mit vielen Optionen"),
    ]
    assert not [*description_pairs(english, DESCRIPTION.format("tool", "de", german).replace("0123", "4567"))]


def test_a_block_that_one_side_lacks_moves_no_other() -> None:
    english = [Block("h1", "The first title here"), Block("p", "Only in English here."), Block("h2", "The second one")]
    german = [Block("h1", "Der erste Titel"), Block("h2", "Der zweite Titel")]
    assert [pair[1] for pair in align(english, german)] == ["Der erste Titel", "Der zweite Titel"]


def test_no_document_is_in_two_splits_and_no_held_out_sentence_is_trained_on() -> None:
    pairs = [
        Pair(f"d{n % 997}", f"{word} sentence of a text", f"{word} Satz") for n in range(3000) for word in "abcdef"
    ]
    pairs += [
        Pair(f"d{n}", f"words of their own {n:b} {chr(97 + n % 26)}{chr(97 + n // 26)}", "Worte") for n in range(600)
    ]
    splits = split_pairs(pairs)
    documents = {split: {pair.document for pair in each} for split, each in splits.items()}
    assert all(splits.values())
    assert sum(map(len, documents.values())) == len(set().union(*documents.values()))
    english = {split: {pair.english.lower() for pair in each} for split, each in splits.items()}
    assert not english["train"] & (english["valid"] | english["test"])


def test_the_page_says_what_the_record_and_the_tables_hold() -> None:
    """The text has the sizes of an earlier corpus; its sums are in a table that run.sh compares it with."""
    page, figures = "recipes/debian_en_de/README.md", record("debian_text")
    assert table(page, "## The text") == [row(split, f"{pairs:,}") for split, pairs in figures["pairs"].items()]
    says(page, f"{figures['packages']} packages ({figures['megabytes']} MB)")
    rows = packages.read_rows(SCRIPT.parent / "tables" / "packages.tsv")
    assert sum(not each["name"].startswith(packages.DESCRIPTIONS) for each in rows) == figures["packages"]
    assert all(each["licence"] and len(each["sha256"]) == 64 for each in rows)
