"""Members against those that Python's tarfile finds where the tar is well meant; heads that are not."""

import gzip
import io
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts.tars import END, entry, head, padded, record

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.archives import tar
from realformer_nmt.corpora.archives.extract import extract

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
NAMES = st.text("abc./äß日-_ ", min_size=1, max_size=300).map(lambda name: f"x{name}y".replace("//", "/"))
MEMBERS = st.lists(st.tuples(NAMES, st.binary(max_size=1500), st.sampled_from([*tar.FILES, *tar.EMPTY])), max_size=6)


@settings(deadline=None)
@given(members=MEMBERS, form=st.sampled_from(FORMATS), compressed=st.booleans())
def test_what_packers_write_is_read_as_tarfile_reads_it(
    tmp_path_factory: pytest.TempPathFactory,
    members: list[tuple[str, bytes, bytes]],
    form: int,
    compressed: bool,
) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as pack:
        for name, data, kind in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "other" * 30
            info.size = len(data) if kind in tar.FILES else 0
            try:
                pack.addfile(info, io.BytesIO(data))
            except ValueError:  # a name too long for USTAR
                continue
    file = tmp_path_factory.mktemp("tar") / ("a.tgz" if compressed else "a.tar")
    file.write_bytes(gzip.compress(stream.getvalue()) if compressed else stream.getvalue())
    with tarfile.open(file) as pack:
        expected = [(info.name, info.size, info.isreg(), content(pack, info)) for info in pack]
    actual = [(one.name, one.size, one.plain, one.content.read() if one.plain else b"") for one in tar.members(file)]
    assert actual == expected


def content(pack: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    opened = pack.extractfile(info) if info.isreg() else None
    return opened.read() if opened else b""


def written(folder: Path, data: bytes) -> Path:
    (folder / "a.tgz").write_bytes(gzip.compress(data, 1))
    return folder / "a.tgz"


DIGITS = b"1" * 60_000  # in a head that is small enough: quadratic in tarfile before 3.11.10
BEFORE = entry(b"0", b"other", "other")
LONG = tar.LONGEST_HEAD + 1
REFUSED = {
    "pax of half a gigabyte": head(b"x", 512 << 20),
    "pax for all of a terabyte": head(b"g", 1 << 33),
    "pax of Solaris": head(b"X", LONG) + bytes(LONG),
    "long name": head(b"L", LONG) + b"a" * LONG,
    "long link": head(b"K", LONG) + b"a" * LONG,
    "negative size": BEFORE + head(b"0", 0, exactly=b"\xff" * 10 + b"\xfc\x00"),
    "negative size of a link": BEFORE + head(b"2", 0, exactly=b"\xff" * 10 + b"\xfc\x00"),
    "huge size": head(b"0", 0, "other", exactly=b"\x80" + b"\xff" * 11),
    "no number": head(b"0", 0, exactly=b"x" * 12),
    "negative size of pax": entry(b"x", record(b"size", b"-512")) + entry(b"0", b"x"),
    "size of pax that is none": entry(b"x", record(b"size", b"1e3")) + entry(b"0", b"x"),
    "size of pax of many digits": entry(b"x", record(b"size", b"9" * 5000)) + entry(b"0", b"x"),
    "huge size of pax": entry(b"x", record(b"size", b"9" * 18)) + entry(b"0", b"x"),
    "pax without lengths": entry(b"x", b"path=/x\n") + entry(b"0", b"x"),
    "pax of length 0": entry(b"x", b"0 path=/x\n") + entry(b"0", b"x"),
    "pax of a shorter length": entry(b"x", b"3 path=/x\n") + entry(b"0", b"x"),
    "pax of a longer length": entry(b"x", b"99 path=/x\n") + entry(b"0", b"x"),
    "pax of digits": entry(b"x", DIGITS) + entry(b"0", b"x"),
    "pax of digits and an end": entry(b"x", DIGITS + b" hdrcharset=x\n") + entry(b"0", b"x"),
    "holes": head(b"S", 0) + padded(b"x"),
    "holes of pax": entry(b"x", record(b"GNU.sparse.major", b"1")) + entry(b"0", b"x"),
    "a link": entry(b"2", b""),
    "a hard link": entry(b"1", b""),
    "a device": entry(b"3", b""),
    "another device": entry(b"4", b""),
    "a pipe": entry(b"6", b""),
    "a folder": entry(b"5", b""),
    "an unknown kind": entry(b"Z", b"x"),
    "a name of pax": entry(b"x", record(b"path", b"/top.en")) + entry(b"0", b"x"),
    "a name for all": entry(b"g", record(b"path", b"top.en")) + entry(b"0", b"x", "other"),
    "a checksum": bytes([1]) + head(b"0", 1)[1:] + padded(b"x"),
    "the end": entry(b"0", b"x" * 600)[:-512],
    "nothing": b"",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_a_plain_file_of_that_name_is_refused_at_once(tmp_path: Path, what: str) -> None:
    archive = written(tmp_path, REFUSED[what] + (b"" if what in ("the end", "nothing") else END))
    begun = time.process_time()
    with pytest.raises(UserError, match=r"a\.tgz: "):
        extract(archive, ["top.en"], tmp_path / "out")
    assert time.process_time() - begun < 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != archive]


def test_heads_say_name_and_size_and_the_last_of_them_counts(tmp_path: Path) -> None:
    heads = entry(b"L", b"other\0") + entry(b"x", record(b"path", b"wrong")) + entry(b"x", record(b"path", b"top.en"))
    archive = written(tmp_path, heads + head(b"0", 0, "wrong") + END)
    assert extract(archive, ["top.en"], tmp_path / "out")["top.en"].read_bytes() == b""
    data = padded(b"one\ntwo\n")
    archive = written(tmp_path, entry(b"x", record(b"size", b"4")) + head(b"0", 0) + data + BEFORE + END)
    files = extract(archive, ["top.en", "other"], tmp_path / "out2")
    assert (files["top.en"].read_bytes(), files["other"].read_bytes()) == (b"one\n", b"other")


def test_neither_members_nor_bytes_are_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar, "MOST", 100)
    archive = written(tmp_path, entry(b"0", b"", "other") * 101 + entry(b"0", b"x") + END)
    with pytest.raises(UserError, match="more than 100 members"):
        extract(archive, ["top.en"], tmp_path / "out")
    archive = written(tmp_path, entry(b"L", b"top.en") * 101 + entry(b"0", b"x") + END)
    with pytest.raises(UserError, match="more than 100 members"):
        extract(archive, ["top.en"], tmp_path / "out")
    monkeypatch.setattr(tar, "WHOLE", 1000)
    archive = written(tmp_path, entry(b"0", b"x" * 600, "other") * 2 + entry(b"0", b"x") + END)
    with pytest.raises(UserError, match="more than 1,000 bytes together"):
        extract(archive, ["top.en"], tmp_path / "out")


def test_the_first_of_a_name_counts(tmp_path: Path) -> None:
    archive = written(tmp_path, entry(b"0", b"one") + entry(b"2", b"") + entry(b"0", b"two") + END)
    assert extract(archive, ["top.en"], tmp_path / "out")["top.en"].read_bytes() == b"one"


GOOD = b"".join(
    [
        entry(b"x", record(b"path", b"top.en")),
        entry(b"0", b"one\n" * 300, "wrong"),
        entry(b"L", b"other"),
        entry(b"0", b"x"),
        END,
    ]
)


def test_whatever_is_damaged_comes_out_in_its_place_or_is_refused(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    refused = 0
    for _ in range(1000):
        bad = bytearray(GOOD)
        for place in chance.integers(len(bad), size=chance.integers(1, 5)):
            bad[place] = chance.choice([0, 0xFF, ord("9"), chance.integers(256)])
        (tmp_path / "a.tar").write_bytes(bytes(bad))
        try:
            extract(tmp_path / "a.tar", ["top.en"], tmp_path / "out")["top.en"].unlink()
        except UserError as error:
            refused += str(error).startswith(str(tmp_path / "a.tar"))
        assert {path.name for path in tmp_path.rglob("*")} <= {"a.tar", "out", ".extracted.json"}
    assert refused > 100
