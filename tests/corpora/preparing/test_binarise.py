"""The data-bin of prepare, byte for byte fairseq-preprocess's; and what is refused."""

from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils
from programs import commands

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.preparing import binarise as stage
from realformer_nmt.corpora.preparing.binarise import binarise

LANGUAGES = ("en", "de")
Texts = dict[str, tuple[list[str], list[str]]]
TEXTS: Texts = {
    "train": (["\u2581a \u2581b c", "b", "a \u2581b"], ["\u2581z a", "a a a a", "c"]),
    "valid": (["\u2581b unknown"], ["a"]),
    "test": ([], []),
}
ODD: Texts = {  # equal counts, empty lines, every whitespace but the ends of lines, fairseq's own symbols as words
    "train": (
        ["b a c", "", "  a\tb  \u3000c\u00a0d ", "</s> <pad> </s>", "\x1cz\x85y \U0001f600 madeupword0000"],
        ["x", "<s> <unk> x", "", "", "\u2028 \u00e9 e\u0301 x"],
    ),
    "valid": (["new a", "", "a </s>"], ["new", "words", "b"]),
    "test": ([""], ["x"]),
    "test1": (["a"] * 7, ["b b"] * 7),
}


def write(folder: Path, texts: Texts) -> None:
    for split, sides in texts.items():
        for language, lines in zip(LANGUAGES, sides, strict=True):
            (folder / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")


def of_fairseq(texts: Path, folder: Path, *options: object) -> None:
    tests = ",".join(str(texts / split) for split in ("test", "test1"))
    splits = ["--trainpref", texts / "train", "--validpref", texts / "valid", "--testpref", tests]
    done = commands.fairseq("preprocess", "-s", "en", "-t", "de", *splits, "--destdir", folder, *options)
    assert commands.run(done).returncode == 0
    (folder / "preprocess.log").unlink()


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("joined", [True, False])
def test_without_a_dictionary_all_is_as_fairseq_makes_it(tmp_path: Path, joined: bool) -> None:
    write(tmp_path, ODD)
    of_fairseq(tmp_path, tmp_path / "theirs", *["--joined-dictionary"] * joined)
    assert binarise(tmp_path, LANGUAGES, tmp_path / "ours", 1, [], joined) == {
        "train": 5,
        "valid": 3,
        "test": 1,
        "test1": 7,
    }
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


@pytest.mark.parametrize("words", [3, 65_495, 65_496])  # with four symbols: 65,500 entries are numbers of four bytes
def test_with_a_dictionary_all_is_as_fairseq_makes_it(
    tmp_path: Path, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks have a line or two, and two workers make them."""
    write(tmp_path, ODD)
    dictionary = tmp_path / "dictionary.txt"
    dictionary.write_text("".join(f"{word} {17 + number}\n" for number, word in enumerate(["x", "b", "a"])))
    with dictionary.open("a") as file:
        file.writelines(f"word{number} 1\n" for number in range(words - 3))
    of_fairseq(tmp_path, tmp_path / "theirs", "--joined-dictionary", "--srcdict", dictionary)
    monkeypatch.setattr(stage, "BLOCK", 10)
    binarise(tmp_path, LANGUAGES, tmp_path / "ours", 2, [dictionary], True)
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


def test_each_side_with_its_own_dictionary(tmp_path: Path) -> None:
    write(tmp_path, ODD)
    dictionaries = [tmp_path / "one", tmp_path / "other"]
    for dictionary, words in zip(dictionaries, ("a 1\nb 2\n", "x 5\nnew 2\nwords 2\n"), strict=True):
        dictionary.write_text(words)
    of_fairseq(tmp_path, tmp_path / "theirs", "--srcdict", dictionaries[0], "--tgtdict", dictionaries[1])
    binarise(tmp_path, LANGUAGES, tmp_path / "ours", 1, dictionaries, False)
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


def test_a_line_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    """fairseq would split this one at its carriage return, and the sides would no longer match."""
    write(tmp_path, {**TEXTS, "valid": (["a\rb"], ["a"])})
    out = tmp_path / "data-bin"
    assert binarise(tmp_path, LANGUAGES, out, 1, [], True)["valid"] == 1
    dictionary = Dictionary.load(str(out / "dict.en.txt"))
    (sentence,) = data_utils.load_indexed_dataset(str(out / "valid.en-de.en"), dictionary)
    assert dictionary.string(sentence) == "a b"


def test_sides_of_different_length_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {**TEXTS, "valid": (["a", "b"], ["a"])})
    with pytest.raises(UserError, match=r"valid\.de has 1 lines, and the other side 2"):
        binarise(tmp_path, LANGUAGES, tmp_path / "data-bin", 1, [], True)
