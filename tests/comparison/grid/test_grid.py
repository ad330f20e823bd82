"""A grid as it is read: what its cells are, and what is refused with which words."""

import shlex
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from recipe_scripts.printed import dry_run, flags

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import choices_of
from realformer_nmt.comparison.grid.cell import Named
from realformer_nmt.comparison.grid.grid import DataBin, load
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.subwords.subword_methods import METHODS

PLAIN = 'families = ["post_ln", "admin"]\nlayers = ["6", "60-12"]\n'
REFUSED = {
    "families = ['admin']\nlayers = ['6']\n[train]\nresidual-topology = 'dual'": "is what a family's name stands for",
    "families = []\nlayers = ['6']": "families: is empty",
    "families = ['admin', 'admin']\nlayers = ['6']": "families: admin is named twice",
    "families = ['admn']\nlayers = ['6']": "did you mean admin?",
    "families = ['admin']\nlayers = [6, '6-6']": "layers: 6 and 6-6 are the same depth; name it once",
    PLAIN + "seed = [1]": "key seed is not one of",
    PLAIN + "seeds = [1, -1]": "seeds: -1: allowed is 0 to 4,294,967,295",
    PLAIN + "pretrained = '{a}.pt'": "pretrained: {a}.pt: allowed in braces are family, layers and seed",
    PLAIN + "baseline = 'pre_ln'": "baseline pre_ln is not one of post_ln, admin",
    PLAIN + "subsets = ['../test']": "'../test': allowed is a plain name",
    PLAIN + "subsets = ['test', 'test1']\n[data]\nfolder = 'x'\nsubwords = 'none'\nreference = 'x'": (
        "data.references: give a raw text for each subset after the first: test1"
    ),
    PLAIN + "corpus = 'multi30k_en_de'\nprepared = 'data'": "give one of them",
    PLAIN + "[prepare]\nvocabulary = 100": "give corpus too",
    PLAIN + "[budget]\nepoch = 3": "did you mean epochs?",
    PLAIN + "[[override]]\nfamily = 'pre_ln'": "matches no cell of this grid",
    PLAIN + "[train]\nmax-update = 30": "train: max-update is set by budget: updates, or by an axis; give it there",
    PLAIN + "[budget]\nepochs = 3\n[[override]]\nlayers = '6'\n[override.budget]\nupdates = 300": (
        "post_ln 6 seed 1 has epochs and updates, by [budget] and override for 6 (updates 300)"
    ),
    PLAIN + "[train]\nprepared = 'data'": "train: prepared is a key of the grid itself: write it above",
    PLAIN + "[train]\ndropuot = 0.1": "--dropuot may not be set in a file; did you mean dropout?",
}


def write(folder: Path, text: str) -> Path:
    file = folder / "grid.toml"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    return file


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_wrong_grid_is_refused_in_a_line(text: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(UserError) as error:
        load(file)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)


def test_a_grid_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_bytes(b"families = '\xff'")
    with pytest.raises(UserError, match="utf-8"):
        load(file)
    with pytest.raises(UserError, match=r"No such file.*recipes/quickstart/grid\.toml"):
        load(tmp_path / "none.toml")


def test_cells_are_the_product_of_families_layers_and_seeds(tmp_path: Path) -> None:
    grid = load(write(tmp_path, PLAIN.replace('"6"', "6") + "seeds = [1, 2]\n[[override]]\nlayers = 6"))
    assert list(grid.cells()) == [
        (family, layers, seed, ()) for family in ("post_ln", "admin") for layers in ("6", "60-12") for seed in (1, 2)
    ]


def test_overrides_change_the_cells_that_they_name_and_the_last_one_counts(tmp_path: Path) -> None:
    text = """
    [train]
    lr = 1
    dropout = 0.1
    [[override]]
    family = "admin"
    [override.train]
    lr = 2
    [[override]]
    family = "admin"
    layers = "60-12"
    [override.train]
    lr = 3
    [override.budget]
    epochs = 9
    """
    grid = load(write(tmp_path, PLAIN + text))
    assert grid.options("train", Named("post_ln", "60-12", 1)) == {"lr": 1, "dropout": 0.1}
    assert grid.options("train", Named("admin", "6", 1)) == {"lr": 2, "dropout": 0.1}
    assert grid.options("train", Named("admin", "60-12", 1)) == {"lr": 3, "dropout": 0.1}
    assert grid.options("budget", Named("admin", "60-12", 1)) == {"epochs": 9}
    assert grid.options("budget", Named("admin", "6", 1)) == {}
    assert [str(rule) for rule in grid.override] == ["admin (lr 2)", "admin 60-12 (lr 3, epochs 9)"]


@pytest.mark.parametrize(
    ("more", "options", "message"),
    [
        ("", [], "pass --prepared FOLDER"),
        ("prepared = 'data'", ["--prepared", "other"], "says prepared: leave one of them out"),
        ("prepared = 'data'", [], "prepare.json: no such file; `realformer-nmt prepare --folder"),
        ("corpus = 'nothing'", [], "corpus nothing is not one of"),
    ],
)
def test_a_corpus_that_cannot_be_found_is_refused(
    more: str, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, PLAIN + more)
    assert main(["compare", str(file), "--folder", str(tmp_path / "runs"), *options]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_plan_of_a_corpus_that_is_not_prepared_tells_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written."""
    text = PLAIN + "corpus = 'multi30k_en_de'\nprotocol = 'small'\n[prepare]\nvocabulary = 4000"
    file = write(tmp_path, text)
    assert main(["compare", str(file), "--folder", str(tmp_path / "runs"), "--plan", "--gpus", "0"]) == 0
    output = capsys.readouterr().out
    assert "realformer-nmt prepare multi30k_en_de --folder" in output
    assert "--vocabulary 4000" in output
    assert output.count("# which runs fairseq-train ") == 4
    assert output.count("--arch admin --encoder-layers 60 --decoder-layers 12") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grid.toml"]


def test_false_leaves_out_a_switch_of_the_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command `realformer-nmt train` that is printed makes the same model as the plan."""
    text = (
        "families = ['admin', 'pre_ln']\nlayers = ['6']\ncorpus = 'multi30k_en_de'\nprotocol = 'quickstart'\n"
        "[train]\nencoder-learned-pos = false\ncheckpoint-activations = false\n"
        "[[override]]\nfamily = 'admin'\n[override.train]\nencoder-learned-pos = true\ndecoder-learned-pos = false\n"
    )
    assert main(["compare", str(write(tmp_path, text)), "--folder", str(tmp_path), "--plan", "--gpus", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    prefix = "# which runs "
    expected = ["decoder-learned-pos", "encoder-learned-pos"]
    planned = [shlex.split(line.removeprefix(prefix)) for line in lines if line.startswith(prefix)]
    trainings = [shlex.split(line)[2:] for line in lines if line.startswith("realformer-nmt train ")]
    for left_out, plan, training in zip(expected, planned, trainings, strict=True):
        assert {"encoder-learned-pos", "decoder-learned-pos"} - flags(plan).keys() == {left_out}
        assert dry_run(capsys, *training) == plan


def test_what_a_data_bin_may_say_is_what_translate_takes(tmp_path: Path) -> None:
    kinds = get_type_hints(DataBin)
    assert choices_of(CorpusOptions)["subwords"] == METHODS
    for method in METHODS:
        text = f"{PLAIN}[data]\nfolder = 'bin'\nsubwords = '{method}'\nreference = 'x'"
        assert load(write(tmp_path, text)).data == DataBin(folder="bin", subwords=method, reference="x")
    assert get_args(get_args(kinds["hyphens"])[0]) == get_args(get_args(get_type_hints(CorpusOptions)["hyphens"])[0])


def planned(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    text = PLAIN + "seeds = [1, 4]\ncorpus = 'multi30k_en_de'\nprotocol = 'small'"
    call = ["compare", str(write(folder, text)), "--folder", str(folder / "runs"), "--plan", "--gpus", "0"]
    assert main([*call, *options]) == 0
    return [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("# ") and " " not in line[2:]]


def test_more_seeds_follow_the_grids_largest_and_keep_its_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grids, more = planned(tmp_path, capsys), planned(tmp_path, capsys, "--add-seeds", "2")
    assert set(grids) < set(more)
    assert {name.rpartition("-")[2] for name in set(more) - set(grids)} == {"s5", "s6"}
    assert len(more) == 2 * len(grids)


def test_one_family_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {name.partition("-")[0] for name in planned(tmp_path, capsys, "--only", "admin")} == {"admin"}
    with pytest.raises(AssertionError):
        planned(tmp_path, capsys, "--only", "admn")
    assert "--only admn is not one of post_ln, admin; did you mean admin?" in capsys.readouterr().err
