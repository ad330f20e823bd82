from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.manifest import load
from realformer_nmt.corpora.manifest_schema import Lengths, Member, Packing

DIGEST = "0" * 64
OTHER = f'urls = ["https://b/a.tgz"]\nmd5 = "{DIGEST[:32]}"'
GOOD = f"""
source = "en"
target = "de"
invalid_utf8 = "refuse"

[protocol]
normalise_punctuation = true
remove_nonprinting = true
normalise_test = false
aggressive_hyphens = true
lowercase = false
bpe = 100
joined_dictionary = true

[protocol.lengths]
min = 1
max = 80
ratio = 9
counted = "before_bpe"
validation = false

[[train]]
source = "a:train.en"
target = "a:train.de"

[[valid]]
source = "a:valid.en"
target = "a:valid.de"

[[archives.a]]
urls = ["https://localhost/a.tgz"]
sha256 = "{DIGEST}"
"""


def complaint(folder: Path, text: str) -> str:
    """Return what `load` complains of, without the file's name, which comes first."""
    file = folder / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    return str(caught.value).removeprefix(f"{file}: ")


def test_the_least_manifest_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    corpus = load(tmp_path / "mine.toml")
    assert (corpus.name, corpus.source, corpus.target, corpus.test) == ("mine", "en", "de", ())
    assert corpus.train[0].source == Member("a", "train.en")
    assert corpus.archives[0].packings == (Packing(("https://localhost/a.tgz",), sha256=DIGEST),)
    assert corpus.archives[0].packings[0].name == "a.tgz"
    assert corpus.members("a") == ("train.en", "train.de", "valid.en", "valid.de")


@pytest.mark.parametrize("language", ["zh-Hans", "zh_CN", "de2"])
def test_languages_are_those_that_prepare_takes(language: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD.replace('target = "de"', f'target = "{language}"'))
    assert load(tmp_path / "mine.toml").target == language


def with_tests(*subsets: str | None) -> str:
    """Parts of test data, by their subsets."""
    parts = [f'[[test]]\nsource = "a:{n}.en"\ntarget = "a:{n}.de"\n' for n in range(len(subsets))]
    named = [f'subset = "{subset}"\n' if subset else "" for subset in subsets]
    return GOOD.replace("[[archives.a]]", "".join(map("".join, zip(parts, named, strict=True))) + "[[archives.a]]")


@pytest.mark.parametrize(
    ("subsets", "expected"),
    [
        ([], {"test": 0}),
        ([None, None], {"test": 2}),
        ([None, "test1", "test"], {"test": 2, "test1": 1}),
        (["test2", "test1", None, "test2"], {"test": 1, "test1": 1, "test2": 2}),
        ([None, *(f"test{n}" for n in range(1, 12))], {"test": 1, **{f"test{n}": 1 for n in range(1, 12)}}),
    ],
)
def test_parts_of_test_data_name_their_subset(
    tmp_path: Path, subsets: list[str | None], expected: dict[str, int]
) -> None:
    (tmp_path / "mine.toml").write_text(with_tests(*subsets))
    splits = load(tmp_path / "mine.toml").splits()
    assert list(splits) == ["train", "valid", *expected]  # in fairseq's order
    assert {name: len(splits[name]) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (with_tests(None, "test2"), "subset = 'test, test2': allowed is test, test1, each of one part or more"),
        (with_tests("dev"), "test[0]: subset = 'dev': allowed is test, test1, test2"),
        (GOOD.replace("[[valid]]", '[[valid]]\nsubset = "test"'), "'test': allowed is a key of [[test]] alone"),
    ],
)
def test_subsets_that_fairseq_would_not_find_are_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in complaint(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "en"', 'sources = "en"', "did you mean source?"),
        ('invalid_utf8 = "refuse"', "", "invalid_utf8: is missing"),
        ("bpe = 100", 'bpe = "100"', "protocol.bpe: allowed is a whole number, given was '100'"),
        ("max = 80", "max = 0", "protocol.lengths: min = 1: allowed is 1 to max"),
        ('"before_bpe"', '"before"', "protocol.lengths.counted: before is not one of before_bpe, after_bpe; did you"),
        ('target = "de"', 'target = "de/fr"', "target = 'de/fr' names no language: allowed are letters, digits, _"),
        ('target = "de"', 'target = "en"', "target = 'en': allowed is another language than the source"),
        ('"a:train.de"', '"a:../train.de"', "train[0].target: 'a:../train.de' is not archive:path"),
        ('"a:train.de"', '"a:train.en"', "train[0]: target = 'train.en': allowed is another text than the source"),
        ('"a:valid.de"', '"a:train.de"', "train, valid, test = 'a:train.de': allowed is each text once"),
        ('"a:train.de"', '"b:train.de"', "train, valid, test: archive b is not one of a"),
        ("[[train]]", "[train]", "train: allowed is a list, given was {"),
        ("[[valid]]", "[held_out]\nevery = 2\ncounted = 'before_cleaning'\n[[valid]]", "valid: allowed is either"),
        ("https://localhost", "ftp://localhost", "urls = 'ftp://localhost/a.tgz': allowed is http or https"),
        ("/a.tgz", "/", "archives.a[0]: file = '': allowed is a plain name: letters, digits and ._-+, the first"),
        (DIGEST, "G" * 64, "allowed is 64 hexadecimal digits in lower case"),
        (f'sha256 = "{DIGEST}"', "", "archives.a[0]: sha256: allowed is this or md5"),
        ("[[archives.a]]", f"[[archives.b]]\nfile = 'b'\n{OTHER}\n[[archives.a]]", "archives.b: no part"),
        ("[[archives.a]]", f"[[archives.a]]\n{OTHER}\n[[archives.a]]", "archives = 'a.tgz': allowed is each file name"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    assert message in complaint(tmp_path, GOOD.replace(old, new, 1))


def test_an_unknown_corpus_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        UserError, match=r"corpus wmt14_ende is not one of iwslt14_de_en, .*; did you mean wmt14_en_de\?"
    ):
        load("wmt14_ende")


def test_a_lost_file_and_one_that_is_no_toml_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lost\.toml: No such file or directory; shipped are iwslt14_de_en"):
        load(tmp_path / "lost.toml")
    (tmp_path / "bad.toml").write_bytes(b'source = "\xff"')
    with pytest.raises(UserError, match=r"bad\.toml: 'utf-8' codec"):
        load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text("source = en")
    with pytest.raises(UserError, match=r"bad\.toml: Invalid value .*line 1"):
        load(tmp_path / "bad.toml")


def test_a_base_gives_everything_but_what_differs(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    (tmp_path / "own.toml").write_text('base = "mine.toml"\nsource = "fr"\n[protocol.lengths]\nmax = 100\n')
    mine, variant = load(tmp_path / "mine.toml"), load(tmp_path / "own.toml")
    assert (variant.name, variant.source) == ("own", "fr")
    assert variant.protocol.lengths == Lengths(1, 100, 9, "before_bpe", False)
    assert (variant.train, variant.valid, variant.archives) == (mine.train, mine.valid, mine.archives)


@pytest.mark.parametrize("base", ['"mine.toml"', '"other.toml"'])
def test_a_circle_of_bases_is_refused(tmp_path: Path, base: str) -> None:
    (tmp_path / "other.toml").write_text('base = "mine.toml"')
    assert "is its own base" in complaint(tmp_path, f"base = {base}")


def test_a_base_that_is_unknown_or_no_name_is_refused(tmp_path: Path) -> None:
    assert "base: allowed is a string, given was 1" in complaint(tmp_path, "base = 1")
    (tmp_path / "mine.toml").write_text('base = "wmt15"')
    with pytest.raises(UserError, match="corpus wmt15 is not one of"):
        load(tmp_path / "mine.toml")


def test_a_manifest_may_begin_with_a_byte_order_mark_and_have_line_ends_of_windows(tmp_path: Path) -> None:
    plain, windows = tmp_path / "a" / "mine.toml", tmp_path / "b" / "mine.toml"
    for file, code, line_end in ((plain, "utf-8", "\n"), (windows, "utf-8-sig", "\r\n")):
        file.parent.mkdir()
        file.write_text(GOOD, code, newline=line_end)
    assert load(windows) == load(plain)
