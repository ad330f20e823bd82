"""A corpus' archives in miniature: the true member layout and quirks, seeded sentences, served from a folder.

    tiny = miniature(load("wmt14_en_fr"), site, server.url, pairs=50)  # `site` is the folder that the server serves
    load(tiny.manifest)  # the same corpus with this server's URLs: URL/wmt14_en_fr/https.www.statmt.org/wmt13/...

A target word is its source word read backwards, so that a small model can learn to translate.
"""

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import numpy as np

from realformer_nmt.corpora.manifest_schema import Corpus, Member, Packing, Part

SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "ru")
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES]
UMLAUTS = {"en": "", "de": "ß", "fr": "é"}  # what ends a language's words
NO_LINE_ENDS = ("\r", "\u2028", "\u0085", "\f", "\x1c", "\u2029")  # inside segments, though some readers split there
HEADS = ("<url>http://www.ted.com/talks/{0}</url>", "<keywords>talks, {0}</keywords>", "<talkid>{0}</talkid>")
XML = """<?xml version="1.0" encoding="UTF-8"?>
<mteval>
<{0} setid="iwslt2014" srclang="german">
<doc docid="1" genre="lectures">
<url>http://www.ted.com/talks/1</url>
<keywords>talks, 1</keywords>
<title>no segment</title>
{1}</doc>
</{0}>
</mteval>
"""
SGM = '<{0} setid="newstest" srclang="any">\n<doc docid="a & b" origlang="en">\n<p>\n{1}</p>\n</doc>\n</{0}>\n'


@dataclass(frozen=True)
class Miniature:
    manifest: Path
    content: dict[Member, bytes]  # as it stands in the archive, gzipped where the true one is


def miniature(corpus: Corpus, site: Path, url: str, pairs: int = 60, settings: str = "") -> Miniature:
    """Every packing stands under SITE/NAME where its URLs say; `settings` is more TOML."""
    site, url = site / corpus.name, f"{url}/{corpus.name}"
    content: dict[Member, bytes] = {}
    for number, part in enumerate(corpus.parts):
        sides = sentences(np.random.default_rng((1, number)), pairs, corpus)
        for member, lines in zip((part.source, part.target), sides, strict=True):
            content[member] = _text(_quirks(lines, part, member == part.source), part, member)
    for archive in corpus.archives:
        members = {member.path: data for member, data in content.items() if member.archive == archive.name}
        for packing in archive.packings:
            packed = pack(packing.name, members)
            for address in packing.urls:
                file = site / served(address)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(packed)
    manifest = site.with_suffix(".toml")
    packings = [(archive.name, packing) for archive in corpus.archives for packing in archive.packings]
    described = "".join(_describe(name, packing, site, url) for name, packing in packings)
    manifest.write_text(f'base = "{corpus.name}"\n\n{settings}\n{described}')
    return Miniature(manifest, content)


def served(address: str) -> str:
    """Return where a true URL's file stands under the site: https.www.statmt.org/wmt14/test-full.tgz."""
    split = urlsplit(address)
    return f"{split.scheme}.{split.hostname}{split.path}"


def sentences(chance: np.random.Generator, number: int, corpus: Corpus) -> tuple[list[str], list[str]]:
    sources, targets = [], []
    for _ in range(number):
        words = [str(word) for word in chance.choice(WORDS, chance.integers(3, 12))]
        end = f"{chance.integers(100)} {chance.choice(['.', '!', '?'])}"
        sources.append(" ".join([*(word + UMLAUTS[corpus.source] for word in words), end]).capitalize())
        targets.append(" ".join([*(word[::-1] + UMLAUTS[corpus.target] for word in words), end]).capitalize())
    return sources, targets


def pack(name: str, members: Mapping[str, bytes]) -> bytes:
    """Wanted members, in folders, after ones that nobody wants; a name without a known ending is a single file."""
    if not name.endswith((".tar", ".tgz", ".zip")):
        return b"".join(members.values())
    folders = dict.fromkeys(str(parent) for path in members for parent in reversed(PurePosixPath(path).parents[:-1]))
    unwanted = {f"{folder}/unwanted.cs-en.cs" if folder else "unwanted.cs-en.cs": b"ne\n" for folder in ("", *folders)}
    stream = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as pack:
            for path, data in ({f"{folder}/": b"" for folder in folders} | unwanted | dict(members)).items():
                pack.writestr(path, data)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode="w:gz" if name.endswith(".tgz") else "w") as tar:
        for folder in folders:
            info = tarfile.TarInfo(folder)
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
        for path, data in (unwanted | dict(members)).items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def _quirks(lines: list[str], part: Part, source: bool) -> list[str]:
    """The two sides have theirs in different lines, so that a reader who splits there misaligns them."""
    quirky = list(lines)
    if part.format in ("text", "gzip"):
        for number, other in enumerate(NO_LINE_ENDS):
            place = 2 * number + source
            if place < len(quirky):
                quirky[place] = quirky[place].replace(" ", f" {other}", 1)
    if part.format == "sgm":
        quirky[0] += " Q&amp;A &lt;b&gt; &quot;AT&T&quot; &#8217; \u2019"
    return quirky


def _text(lines: list[str], part: Part, member: Member) -> bytes:
    if part.format == "sgm":
        around = " " if member.path.endswith(".xml") else ""
        segments = "".join(
            f'<seg id="{number}">{around}{line}{around}</seg>\n' for number, line in enumerate(lines, start=1)
        )
        template = XML if member.path.endswith(".xml") else SGM
        return template.format("srcset" if "-src." in member.path else "refset", segments).encode()
    if part.format == "tags":  # talks have a title and a description, which are segments
        titled = [f"<title>{lines[0]}</title>", f"<description>{lines[1]}</description>", *lines[2:]]
        lines = [*(head.format(1) for head in HEADS), *titled]
    data = "".join(f"{line}\n" for line in lines).encode()
    return gzip.compress(data, mtime=0) if part.format == "gzip" else data


def _describe(archive: str, packing: Packing, site: Path, url: str) -> str:
    """The keys of the true packing: where its size or a hash of it is not known, neither is the miniature's."""
    data = (site / served(packing.urls[0])).read_bytes()
    urls = ", ".join(f'"{url}/{served(address)}"' for address in packing.urls)
    lines = [f'[[archives."{archive}"]]', f"urls = [{urls}]", f'file = "{packing.name}"']
    if packing.bytes:
        lines.append(f"bytes = {len(data)}")
    for name in ("sha256", "md5"):
        if getattr(packing, name):
            lines.append(f'{name} = "{hashlib.new(name, data, usedforsecurity=False).hexdigest()}"')
    return "\n".join(lines) + "\n\n"
