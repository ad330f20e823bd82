"""Segments of every format, with the quirks of the real corpora, and what is wrong with damaged files."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.read_segments import Segments, blocks

QUIRKS = "a\rb\u2028c\u0085d\fe\x1cf\x0bg\u2029h"  # str.splitlines takes it for eight lines
NEWSTEST = """<srcset setid="newstest2014" srclang="any">
<doc sysid="ref" docid="1" genre="news" origlang="de">
<hl>
<seg id="1">Two  spaces &amp; an &quot;entity&quot;</seg>
</hl>
<p>
<seg id="2">\u00a0a no-break\u00a0space,\ta tab </seg>
<seg id="3">1 < 2 > 0</seg>
<seg id="4"></seg>
</p>
</doc>
</srcset>
"""
TALKS = b"""<url>http://www.ted.com/talks/1</url>
<keywords>talks, <title></keywords>
<talkid>1</talkid>
<title>A title</title>
<description>What it is about</description>
 First segment.
With a <b>tag</b> & a\xe2\x80\xa8separator
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading")


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def joined(*arguments: object, **options: object) -> tuple[bytes, bytes]:
    read = list(blocks(*arguments, **options))
    return b"".join(block.source for block in read), b"".join(block.target for block in read)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_only_line_feeds_end_segments(folder: Path, suffix: str) -> None:
    content = f"{QUIRKS}\n\n{QUIRKS}".encode()  # no line end at the end
    path = written(folder / f"quirks{suffix}", content)
    assert joined(path, path) == (content + b"\n",) * 2


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_byte_order_mark_is_no_part_of_the_first_segment(folder: Path, suffix: str) -> None:
    plain, marked = (
        written(folder / f"{name}{suffix}", "one\n\ufefftwo\n".encode(code))
        for name, code in (("plain", "utf-8"), ("marked", "utf-8-sig"))
    )
    assert joined(marked, plain) == ("one\n\ufefftwo\n".encode(),) * 2


@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=9),
    size=st.integers(1, 4),
)
def test_any_unicode_keeps_the_count(folder: Path, lines: list[str], size: int) -> None:
    source = written(folder / "source", "".join(f"{line}\n" for line in lines).encode())
    target = written(folder / "target.gz", "".join(f"{line}!\n" for line in lines).encode())
    read = list(blocks(source, target, size=size))
    assert sum(block.pairs for block in read) == len(lines)
    assert all(block.pairs == size for block in read[:-1])
    assert b"".join(block.source for block in read).decode().split("\n")[:-1] == lines
    assert b"".join(block.target for block in read).decode().split("\n")[:-1] == [f"{line}!" for line in lines]


def test_unequal_sides_are_reported_with_both_counts(folder: Path) -> None:
    source, target = written(folder / "s.en", b"x\n" * 5000), written(folder / "t.fr", b"x\n" * 5003)
    with pytest.raises(UserError, match=r"s\.en has 5000 segments, but \S*t\.fr has 5003"):
        list(blocks(source, target, size=100))
    with pytest.raises(UserError, match=r"t\.fr has 5003 segments, but \S*s\.en has 5000"):
        list(blocks(target, source, size=7000))


@pytest.mark.parametrize(("form", "line"), [("text", 4), ("sgm", 6), ("tags", 4)])
def test_invalid_utf8_is_named_and_refused_or_replaced(
    folder: Path, form: str, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [b"one", b"two", b"three", b"f\xffo\xe2\x82ur", b"five"]
    if form == "sgm":
        content = b"<doc>\n<p>\n" + b"".join(b'<seg id="%d">%s</seg>\n' % pair for pair in enumerate(texts))
    else:
        content = b"\n".join(texts)
    path, good = written(folder / f"bad.{form}", content), written(folder / "good", b"x\n" * 5)
    if form == "sgm":
        good = written(folder / "good.sgm", b'<seg id="1">x</seg>\n' * 5)
    with pytest.raises(UserError, match=rf"bad\.{form}, line {line}: invalid UTF-8"):
        list(blocks(path, good, form, "refuse"))
    [block] = blocks(good, path, form, "replace")
    assert block.target.decode() == "one\ntwo\nthree\nf\ufffdo\ufffdur\nfive\n"
    assert (block.pairs, block.replaced) == (5, 1)
    assert f"bad.{form}, line {line}: invalid UTF-8 replaced" in capsys.readouterr().err


def test_sgm_is_read_as_sacrebleu_reads_it(folder: Path) -> None:
    path = written(folder / "newstest.sgm", NEWSTEST.encode())
    FakeSGMLDataset("any")._convert_format(str(path), str(folder / "sacrebleu"))
    expected = (folder / "sacrebleu").read_bytes()
    assert expected.count(b"\n") == 4
    assert joined(path, path, "sgm")[0] == expected


@pytest.mark.parametrize(
    "line", [b'<seg id="1">half\nand half</seg>', b"<seg>one</seg> <seg>two</seg>", b"<seg>a <seg>"]
)
def test_a_line_with_less_or_more_than_a_segment_is_refused(folder: Path, line: bytes) -> None:
    path = written(folder / "broken.sgm", b"<doc>\n" + line + b"\n")
    with pytest.raises(UserError, match=r"broken\.sgm, line 2"):
        list(Segments(path, "sgm"))


def test_iwslt_titles_are_segments_and_other_metadata_is_not(folder: Path) -> None:
    path = written(folder / "train.tags.de-en.en", TALKS)
    expected = ["A title", "What it is about", "First segment.", "With a <b>tag</b> & a separator"]
    assert joined(path, path, "tags")[0].decode().split("\n")[:-1] == expected


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-9], lambda whole: whole[:-6] + b"\0\0\0\0\0\0", lambda _: b"plain"]
)
def test_a_damaged_gzip_file_is_named(folder: Path, damage: object) -> None:
    path = folder / "damaged.gz"
    path.write_bytes(damage(gzip.compress(b"line\n" * 1000)))
    with pytest.raises(UserError, match=r"damaged\.gz"):
        list(blocks(path, path, "gzip"))
