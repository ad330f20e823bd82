"""A job refuses texts of which no pair remains."""

from dataclasses import replace
from pathlib import Path

import pytest
from programs import argv

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.manifest_schema import Lengths, TextProtocol
from realformer_nmt.corpora.preparing.clean_splits import Plan
from realformer_nmt.corpora.preparing.cleaning import cleaned
from realformer_nmt.corpora.preparing.prepare import PrepareSteps
from realformer_nmt.corpora.preparing.prepare_job import PrepareJob, job
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.data_bins.prepared_folder import PreparedFolder

LENGTHS = Lengths(min=1, max=3, ratio=2, counted="after_bpe", validation=True)
PROTOCOL = TextProtocol(False, False, False, False, False, 100, True, LENGTHS)
PLAN = Plan("en", "de", PROTOCOL, None, "refuse", tokenised=False, deduplicate=False)
SHORT, LONG, UNEVEN = ("a b\n", "b a\n"), ("a b c d\n", "d c b\n"), ("a\n", "a b c\n")


def encode(folder: PreparedFolder, train: list[tuple[str, str]], valid: list[tuple[str, str]]) -> dict[str, int]:
    """Encode both splits, and a test set that was not asked for, and return the numbers of the pairs that remain."""
    for path in (folder.text, folder.subword_text):
        path.mkdir()
    for name, pairs in {"train": train, "valid": valid, "valid.raw": valid, "test": [], "test.raw": []}.items():
        for side, language in enumerate(PLAN.languages):
            (folder.text / f"{name}.{language}").write_text("".join(pair[side] for pair in pairs))
    steps = PrepareSteps(PrepareJob("own", PLAN, "none", 1), folder, PrepareRequest(folder=folder.path, workers=1))
    return {split: counts.pairs for split, counts in steps.encode(folder.subword_text).pieces.items()}


@pytest.mark.parametrize(("options", "name"), [([], "WMT14 En-De"), (["--lowercase"], None)])
def test_figures_are_published_for_the_test_text_as_it_is(options: list[str], name: str | None, tmp_path: Path) -> None:
    request = argv.read(PrepareRequest, "wmt14_en_de", "--folder", tmp_path, *options)
    assert job(request).published == name


def test_a_split_of_which_the_filter_of_subwords_leaves_something_is_taken(tmp_path: Path) -> None:
    pairs = encode(PreparedFolder(tmp_path), train=[LONG, SHORT], valid=[SHORT, UNEVEN, SHORT])
    assert pairs == {"train": 1, "valid": 2, "test": 0}


@pytest.mark.parametrize(
    ("train", "valid", "message"),
    [
        (
            [LONG, UNEVEN, LONG],
            [SHORT],
            r"no training pair is left of .*\(3 pairs, dropped .*'ratio': 1, 'too_long': 2",
        ),
        (
            [SHORT],
            [UNEVEN],
            r"no pair is left for valid of .*\(1 pairs, dropped .*'ratio': 1.*: widen the length filter",
        ),
    ],
)
def test_a_split_of_which_it_leaves_nothing_is_refused(
    train: list[tuple[str, str]], valid: list[tuple[str, str]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        encode(PreparedFolder(tmp_path), train, valid)


@pytest.mark.parametrize("name", ["train", "valid", "test"])
def test_words_with_joiners_stay_whole_if_asked(name: str, tmp_path: Path) -> None:
    """The words are Persian for "I want", with a non-joiner, and Sinhala for "Sri", with a joiner."""
    words = ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"]
    text = tmp_path / "text"
    request = PrepareRequest(source="fa", target="si", train=((text, text),), held_out=2, folder=tmp_path)
    for value, expected in {None: 4, True: 4, False: 2}.items():
        plan = job(replace(request, remove_nonprinting=value)).plan
        for steps in plan.steps(name, "text"):
            (line,) = cleaned(f"{' '.join(words)}\n".encode(), steps)
            assert len(line.split()) == expected
            assert (line.split() == words) == (value is False)


@pytest.mark.parametrize(("ratio", "rest"), [(9, 5), (1000, 40)])
def test_training_pairs_of_a_language_without_spaces_are_not_lost_in_silence(
    ratio: int, rest: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """40 pairs of 5, 10, 15 ... 40 English words, each beside one Chinese sentence, which has no space."""
    for language, sentences in {
        "en": ["word " * 5 * (i % 8 + 1) for i in range(40)],
        "zh": ["\u8a9e\u3002"] * 40,
    }.items():
        (tmp_path / language).write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    pair, out = (tmp_path / "en", tmp_path / "zh"), tmp_path / "text"
    request = PrepareRequest(
        source="en", target="zh", train=(pair,), valid=(pair,), folder=tmp_path, ratio=ratio, workers=1, quiet=True
    )
    out.mkdir()
    counts = PrepareSteps(job(request), PreparedFolder(tmp_path), request).clean(out)
    assert [part.kept for part in counts.parts] == [rest, 40]
    warned = capsys.readouterr().err
    assert ("text: 35 of 80 pairs dropped: 35 ratio\n" in warned) == (rest < 40)
    assert ("35 of 40 training pairs were dropped because one side has many times the words" in warned) == (rest < 40)
    assert ("--ratio" in warned) == (rest < 40)


@pytest.mark.parametrize(
    ("valid", "test", "shared"),
    [
        (("v.en", "v.de"), ("t.en", "t.de"), None),
        (("v.en", "v.de"), ("v.en", "v.de"), None),  # a test set of the validation text
        (("v.en", "v.de"), ("t.en", "a.de"), "a.de is a text of train and of test:"),
        (("link.en", "v.de"), ("t.en", "t.de"), "link.en is a text of train and of valid:"),
    ],
)
def test_text_of_train_in_another_split_is_not_overlooked(
    valid: tuple[str, str],
    test: tuple[str, str],
    shared: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The training text is given twice, which gives it more weight."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "v", "t"):
        for language in ("en", "de"):
            Path(f"{name}.{language}").write_text("a b\n" * 9, encoding="utf-8")
    Path("link.en").symlink_to("a.en")
    train, out = (Path("a.en"), Path("a.de")), Path("text")
    pairs = {"valid": [tuple(map(Path, valid))], "test": [tuple(map(Path, test))], "train": [train, train]}
    request = PrepareRequest(source="en", target="de", folder=tmp_path, workers=1, quiet=True, **pairs)
    out.mkdir()
    PrepareSteps(job(request), PreparedFolder(tmp_path), request).clean(out)
    assert capsys.readouterr().err.startswith(f"text: {shared}") if shared else not capsys.readouterr().err
