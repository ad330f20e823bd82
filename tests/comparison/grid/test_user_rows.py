"""Which trainings of a grid are given the --user-dir, and that their scores always are."""

from pathlib import Path

import pytest
from fairseq.registry import REGISTRIES
from grids.grid_cells import cells_of

from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.corpora.subwords.subword_methods import METHODS, SubwordMethod
from realformer_nmt.model.presets import FAMILIES, PRESETS
from realformer_nmt.protocols.command import TrainedCorpus

GRID = """
families = ["pre_ln", "mine"]
layers = ["1", "2"]
protocol = "small"
[data]
folder = "{data}"
subwords = "none"
reference = "{data}/../test.tgt"
[[override]]
layers = "2"
train.optimizer = "my_optimizer"
"""


class MyOptimizer:
    """An optimizer that is neither fairseq's nor this package's."""


def with_folder(folder: Path, data: Path) -> set[str]:
    """Return the names of the cells whose training is given the folder."""
    (folder / "grid.toml").write_text(GRID.format(data=data))
    cells = cells_of(grids.load(folder / "grid.toml"), folder, user_dir=Path("mine"))
    assert all(stage.request.user_dir == Path("mine") for cell in cells for stage in cell.after_training)
    return {cell.name for cell in cells if cell.train.request.user_dir}


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (FAMILIES, PRESETS):
        monkeypatch.setitem(table, "mine", table["pre_ln"])
    monkeypatch.setitem(REGISTRIES["optimizer"]["registry"], "my_optimizer", MyOptimizer)


def test_a_training_has_the_folder_only_if_it_names_a_row_of_it(toy_corpus: Path, tmp_path: Path) -> None:
    assert with_folder(tmp_path, toy_corpus) == {"mine-1-s1", "mine-2-s1", "pre_ln-2-s1"}


def test_subwords_of_the_user_are_a_row_of_the_folder(
    toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may say how BLEU is measured during the training."""
    monkeypatch.setitem(METHODS, "letters", SubwordMethod(encoder="mine.letters:encoder", detokenise="mine.letters:d"))
    monkeypatch.setattr(
        "realformer_nmt.protocols.fairseq_command.preparation", lambda _: TrainedCorpus("toy", "letters")
    )
    assert "pre_ln-1-s1" in with_folder(tmp_path, toy_corpus)


def test_subwords_of_the_user_are_known_before_the_corpus_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {name: f"mine.letters:{name}" for name in ("learn", "encoder", "detokenise")}
    monkeypatch.setitem(METHODS, "letters", SubwordMethod(**names))
    (tmp_path / "own.toml").write_text('base = "multi30k_en_de"\n')
    corpus = 'corpus = "own.toml"\n[prepare]\nsubwords = "letters"\n'
    (tmp_path / "grid.toml").write_text(f'families = ["pre_ln"]\nlayers = ["1"]\nprotocol = "small"\n{corpus}')
    (cell,) = cells_of(grids.load(tmp_path / "grid.toml"), tmp_path, user_dir=Path("mine"))
    assert cell.train.request.user_dir == Path("mine")
