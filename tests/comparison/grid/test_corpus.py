"""Settings that a grid may give of its corpus, against the parser of `realformer-nmt prepare`."""

import shutil
from pathlib import Path

import pytest
from grids.grid_cells import cells_of, corpus_of
from programs import argv
from texts.miniature import miniature

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.sample import SampleRequest
from realformer_nmt.protocols.running.planned_training import PlannedTraining

GRID = 'families = ["pre_ln"]\nlayers = ["1"]\ncorpus = "iwslt14_de_en"\n'


def prepared(folder: Path, options: str) -> PrepareRequest:
    """Return what `prepare` makes of the grid's command."""
    (folder / "grid.toml").write_text(f"{GRID}[prepare]\n{options}")
    request = corpus_of(load(folder / "grid.toml"), folder / "runs").prepare
    assert request is not None
    assert argv.read(PrepareRequest, *request.argv()) == request
    return request


def test_options_reach_prepare_as_they_are_written(tmp_path: Path) -> None:
    args = prepared(
        tmp_path, 'vocabulary = 4000\nsubwords = "moses_bpe"\nratio = 2.5\ndeduplicate = true\nkeep = false'
    )
    assert (args.vocabulary, args.subwords, args.ratio, args.deduplicate) == (4000, "moses_bpe", 2.5, True)
    assert (args.keep, args.lowercase, args.folder) == (False, None, tmp_path / "runs" / "data")


@pytest.mark.parametrize(("written", "expected"), [("true", True), ("false", False)])
def test_a_switch_that_the_corpus_turns_on_can_be_turned_off(tmp_path: Path, written: str, expected: bool) -> None:
    args = prepared(tmp_path, f"lowercase = {written}\nnormalise-punctuation = {written}\nnormalise_test = {written}")
    assert (args.lowercase, args.normalise_punctuation, args.normalise_test) == (expected,) * 3
    assert prepared(tmp_path, f"remove_nonprinting = {written}").remove_nonprinting is expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('folder = "/elsewhere"', "prepare: key folder is not one of workers, "),
        ('lowercase = "--folder=/elsewhere"', "prepare.lowercase: allowed is true or false, given was '--folder"),
        ('subwords = "none"', "prepare.subwords: none is not one of sentencepiece, moses_bpe"),
    ],
)
def test_a_grid_does_not_say_where_or_from_what(tmp_path: Path, options: str, message: str) -> None:
    with pytest.raises(UserError, match=r"grid\.toml: ") as refused:
        prepared(tmp_path, options)
    assert message in str(refused.value)


@pytest.mark.parametrize("path", ["--folder=elsewhere.toml", "a\\u0000.toml", "\\u202eb.toml", ""])
def test_a_path_of_a_grid_is_no_option_and_steers_nothing(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("--folder=elsewhere.toml").write_text('base = "iwslt14_de_en"')
    Path("grid.toml").write_text(GRID.replace("iwslt14_de_en", path))
    with pytest.raises(UserError, match=r"grid\.toml"):
        corpus_of(load(Path("grid.toml")), Path("runs"))


def test_a_share_of_the_pairs_is_trained_on_and_all_else_is_the_same(tmp_path: Path) -> None:
    """Every command that makes what is missing is checked, too."""
    (tmp_path / "grid.toml").write_text(f"{GRID}[axes]\ndata = [0.25, 1]")
    grid, runs = load(tmp_path / "grid.toml"), tmp_path / "runs"
    corpus = corpus_of(grid, runs)
    quarter, whole = cells_of(grid, runs)
    assert [cell.name for cell in (quarter, whole)] == ["pre_ln-1-data0.25-s1", "pre_ln-1-data1-s1"]
    assert (quarter.data, whole.data) == (runs / "data-0.25/data-bin", runs / "data/data-bin")
    (of_quarter, *later_commands), (of_whole, *same) = (
        [[word.replace(str(cell.folder), "CELL") for word in stage.request.command()] for stage in cell.stages]
        for cell in (quarter, whole)
    )
    assert later_commands == same
    assert [pair for pair in zip(of_quarter, of_whole, strict=True) if len(set(pair)) > 1] == [
        (str(quarter.data), str(whole.data))
    ]
    sampling = SampleRequest(prepared=runs / "data", share=0.25, folder=runs / "data-0.25")
    assert corpus.preparations([0.25, 1]) == [corpus.prepare, sampling]
    (runs / "data").mkdir(parents=True)
    (runs / "data/prepare.json").touch()
    assert corpus.preparations([0.25, 1]) == [sampling]
    assert corpus.preparations([1]) == []
    assert corpus.missing([0.25])
    assert not corpus.missing([1])
    (runs / "data-0.25").mkdir()
    (runs / "data-0.25/prepare.json").touch()
    assert corpus.preparations([0.25]) == [sampling]  # which looks at what is there
    assert not corpus.missing([0.25, 1])


PREPARED = """
families = ["pre_ln"]
layers = ["1"]
protocol = "small"
corpus = "multi30k_en_de.toml"
[prepare]
vocabulary = 320
"""


DATA_BIN = """
families = ["pre_ln"]
layers = ["1"]
protocol = "residual"
[data]
folder = "{folder}"
subwords = "none"
reference = "test.de"
"""


@pytest.mark.parametrize("folder", ["iwslt14_de_en", "bin"])
def test_a_data_bin_is_averaged_by_the_checkpoints_that_its_training_keeps(
    tmp_path: Path, toy_corpus: Path, folder: str
) -> None:
    """The protocol has other settings for the corpus iwslt14_de_en, and a folder's name names no corpus."""
    (tmp_path / folder).symlink_to(toy_corpus)
    (tmp_path / "grid.toml").write_text(DATA_BIN.format(folder=folder))
    (cell,) = cells_of(load(tmp_path / "grid.toml"), tmp_path / "runs")
    flags = PlannedTraining(cell.train.request).flags
    average = cell.average.request
    checkpoints = {"--keep-last-epochs": average.last, "--keep-best-checkpoints": average.best}
    assert {flag: flags[flags.index(flag) + 1] for flag in checkpoints if flag in flags} == {
        flag: str(number) for flag, number in checkpoints.items() if number
    }


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a manifest in miniature, and of the corpus that a grid has prepared from it in runs/data."""
    folder = tmp_path_factory.mktemp("tiny")
    miniature(manifest.load("multi30k_en_de"), folder, "https://127.0.0.1:9")
    (folder / "archives").mkdir()
    for archive in filter(Path.is_file, (folder / "multi30k_en_de").rglob("*")):
        shutil.copyfile(archive, folder / "archives" / archive.name)
    (folder / "grid.toml").write_text(PREPARED)
    (preparation,) = corpus_of(load(folder / "grid.toml"), folder / "runs", archives=folder / "archives").preparations(
        []
    )
    preparation.run()
    return folder


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("vocabulary = 320", "vocabulary = 330", "vocabulary was 320, is now 330"),
        ("[prepare]", "[prepare]\nlowercase = true", "protocol.lowercase was False, is now True"),
    ],
)
def test_a_corpus_that_was_prepared_otherwise_is_refused_and_stays(
    tiny: Path, old: str, new: str, difference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    note, grid = tiny / "runs/data/prepare.json", tiny / "other.toml"
    before = note.read_bytes()
    grid.write_text(PREPARED.replace(old, new))
    for option in ((), ("--fresh",), ("--merge", str(tiny / "runs")), ("--cell", "pre_ln-1-s1")):
        (tiny / "runs/cells").mkdir(exist_ok=True)
        assert main(["compare", str(grid), "--folder", str(tiny / "runs"), "--gpus", "0", *option]) == 1
        error = capsys.readouterr().err
        assert f"{tiny / 'runs/data'} was prepared with other settings: " in error
        assert difference in error
    assert note.read_bytes() == before
    assert not list((tiny / "runs/cells").iterdir())


def test_a_cell_of_another_corpus_differs_from_the_grid(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny / "runs", tmp_path / "runs")
    (tiny / "wide.toml").write_text(PREPARED.replace("320", "330"))
    (same,), (other,) = (cells_of(load(tiny / name), tmp_path / "runs") for name in ("grid.toml", "wide.toml"))
    assert CellState(other).differences == []  # it has not begun
    same.folder.mkdir(parents=True)
    same.train.record.touch()
    line = "corpus: vocabulary was 320, is now 330"
    assert line in CellState(other).differences
    assert line not in CellState(same).differences
