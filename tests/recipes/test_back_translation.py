"""The back-translation recipe with a program that notes what it is asked for: whose text goes where."""

from pathlib import Path

from recipe_scripts.noted import models, run
from recipe_scripts.printed import flags

GERMAN = [f"satz {number}" for number in range(7)]
PAIRS = 3


def demo(folder: Path) -> None:
    text = folder / "demo" / "text"
    text.mkdir(parents=True)
    (text / "train.de").write_text("".join(f"{line}\n" for line in GERMAN))
    (text / "train.en").write_text("".join(f"sentence {number}\n" for number in range(7)))


def trained_on(words: list[str]) -> list[list[str]]:
    """The two files of each --train of `prepare`."""
    return [words[place + 1 : place + 3] for place, word in enumerate(words) if word == "--train"]


def test_each_german_sentence_gets_a_tagged_source_that_the_other_direction_wrote(tmp_path: Path) -> None:
    demo(tmp_path)
    status, commands = run("back_translation", tmp_path, str(PAIRS))
    assert status == 0
    stages = ["prepare", "train", "translate", "prepare", "prepare", "train", "train", *["translate", "score"] * 2]
    assert [words[0] for words in commands] == [*stages, "significance"]
    out = tmp_path / "out"
    assert (out / "alone.de").read_text().splitlines() == GERMAN[PAIRS:]
    assert (out / "back.en").read_text().splitlines() == [f"<BT> {line.upper()}" for line in GERMAN[PAIRS:]]
    first, backwards, back, both, alone, *_ = commands
    pairs = [str(out / f"pairs.{language}") for language in ("en", "de")]
    assert trained_on(first) == [pairs[::-1]]
    assert (flags(first)["source"], flags(first)["target"]) == ("de", "en")
    assert models(back) == [flags(backwards)["folder"]]
    assert trained_on(both) == [pairs, [str(out / "back.en"), str(out / "alone.de")]]
    assert trained_on(alone) == [pairs]
    assert flags(alone)["like"] == flags(both)["folder"]
    trained_on_both, trained_on_pairs = (flags(words) for words in commands[5:7])
    assert trained_on_both == {**trained_on_pairs, "data": f"{out}/data/data-bin", "folder": f"{out}/with"}
    assert trained_on_pairs["data"] == f"{out}/pairs_data/data-bin"
