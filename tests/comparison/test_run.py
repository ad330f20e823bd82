"""`realformer-nmt run`: a grid of one cell, from archives to run.json."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixture_types import Once
from grids.grid_cells import cells_of, corpus_of
from programs.commands import OURS, run, starting_forks
from recipe_scripts.recipe import FLAGS, RUN, TINY
from texts.miniature import miniature

import realformer_nmt
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import Request
from realformer_nmt.comparison.grid import grid
from realformer_nmt.comparison.pipeline import requests
from realformer_nmt.comparison.run import STAGES, RunRequest
from realformer_nmt.corpora.manifest import load
from realformer_nmt.protocols.train import TrainRequest

GRID = """
families = ["admin"]
layers = ["6-2"]
seeds = [7]
protocol = "{protocol}"
corpus = "{corpus}"
[prepare]
subwords = "{subwords}"
vocabulary = 500
workers = 3
[budget]
epochs = 4
average = 2
max-tokens = 600
"""
RECORDS = ("train.json", "average.pt.json", "translation/translation.json", "run.json")


@pytest.fixture(scope="module")
def text(once: Once) -> Path:
    """A manifest in miniature, and its archives beside it in one folder."""

    def build(folder: Path) -> None:
        tiny = miniature(load("wmt14_en_de"), folder, "https://127.0.0.1:9", settings="[protocol]\nbpe = 150\n")
        tiny.manifest.rename(folder / "tiny.toml")
        (folder / "archives").mkdir()
        for archive in filter(Path.is_file, (folder / "wmt14_en_de").rglob("*")):
            shutil.copyfile(archive, folder / "archives" / archive.name)

    return once("text_of_a_run", build)


@pytest.fixture(scope="module")
def command(text: Path) -> Callable[..., list[str]]:
    """command(FOLDER, OPTION...) -> the words of `realformer-nmt run` with tiny settings."""

    def words(folder: Path, *options: str) -> list[str]:
        arguments = ["--archives", str(text / "archives"), "--folder", str(folder), *TINY, *options]
        return [*OURS, "run", str(text / "tiny.toml"), *arguments, *FLAGS]

    return words


def moved(request: Request, origin: Path, to: Path) -> list[str]:
    return [word.replace(str(origin), str(to)) for word in request.argv()]


def test_its_requests_are_those_of_a_grid_of_one_cell(tmp_path: Path) -> None:
    """Only the curves differ, and the seed, which a grid gives to fairseq itself."""
    name, protocol, subwords = "iwslt14_de_en", "residual", "moses_bpe"
    (tmp_path / "grid.toml").write_text(GRID.format(corpus=name, protocol=protocol, subwords=subwords))
    one = grid.load(tmp_path / "grid.toml")
    text = corpus_of(one, tmp_path, archives=tmp_path / "archives")
    (cell,) = cells_of(one, tmp_path, archives=tmp_path / "archives")
    prepare, *stages = requests(
        RunRequest(
            corpus=name,
            arch="admin",
            layers="6-2",
            protocol=protocol,
            seed=7,
            folder=tmp_path,
            archives=tmp_path / "archives",
            **{"subwords": subwords, "vocabulary": 500, "workers": 3},
            **{"epochs": 4, "average": 2, "max_tokens": 600, "gpus": 0},
        )
    )
    train, *later_requests = (stage.request for stage in cell.stages)
    assert isinstance(train, TrainRequest)
    assert train.flags == ("--log-interval", "20", "--seed", "7")
    expected = [replace(train, curves=False, flags=(), seed=7), *later_requests]
    assert prepare == text.prepare
    assert [stage.subcommand for stage in stages] == list(STAGES[1:])
    run_folder = tmp_path / f"admin-6-2-{protocol}-s7"
    assert [stage.argv() for stage in stages] == [moved(request, cell.folder, run_folder) for request in expected]


def test_what_python_runs_the_command_finds_done(text: Path, command: Callable[..., list[str]], tmp_path: Path) -> None:
    """A training from archives to run.json, and two commands that look at what there is."""
    folder = tmp_path / "runs"
    sizes = {"layers": "1", "gpus": 0, "max_tokens": 600, "tokens_a_step": 600, "epochs": 3, "average": 2}
    with starting_forks():
        scores = realformer_nmt.run(
            str(text / "tiny.toml"), archives=text / "archives", folder=folder, workers=1, flags=FLAGS[1:], **sizes
        )
    assert scores == folder / RUN / "run.json"
    run_record = json.loads(scores.read_text())
    assert (run_record["lines"], run_record["arch"], run_record["training_seed"]) == (60, "realformer", 1111)
    before = {path: path.stat().st_mtime_ns for path in (folder / RUN).rglob("*")}
    again = run(command(folder, "--fresh"))  # which redoes only what was made with other settings
    assert again.returncode == 0, again.stderr
    assert [f"{folder / RUN / name}: up to date" in again.stdout.splitlines() for name in RECORDS] == [True] * 4
    assert {path: path.stat().st_mtime_ns for path in (folder / RUN).rglob("*")} == before
    other = run(command(folder, "--fresh", "--stage", "average", "--average", "1"))
    assert other.returncode == 0, other.stderr
    assert "up to date" not in other.stdout


def test_a_failing_stage_ends_it_with_its_error(command: Callable[..., list[str]], tmp_path: Path) -> None:
    """The average has nothing to average."""
    done = run(command(tmp_path, "--stage", "average"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"realformer-nmt: {tmp_path / RUN / 'checkpoints'}")
    assert done.stdout.startswith("realformer-nmt average ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset": ("test", "../../etc")}, r"--subset \.\./\.\./etc: allowed is the name of a test set"),
        ({"corpus": "nope"}, "^CORPUS nope is not one of iwslt14_de_en, "),
        ({"manifest": "other.toml"}, "^CORPUS own.toml and --corpus other.toml: .* or give other.toml as CORPUS"),
        ({"arch": "realfomer"}, "^--arch realfomer is not one of .*; did you mean realformer"),
        ({"gpus": 0, "precision": "fp16"}, "fp16"),
        ({"gpus": 99}, "^--gpus 99, but this machine has "),
        ({"flags": ("--dropuot", "0.3")}, "unrecognized arguments: --dropuot 0.3"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_corpus_is_prepared(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("own.toml", "other.toml"):
        Path(name).write_text('base = "multi30k_en_de"\n')
    with pytest.raises(UserError, match=message):
        realformer_nmt.run(**{"corpus": "own.toml", "layers": "6", "folder": "runs", "archives": "none", **options})
    assert not Path("runs").exists()


def test_the_record_of_a_corpus_that_is_prepared_alone_is_returned(tmp_path: Path) -> None:
    record = realformer_nmt.run("multi30k_en_de", folder=tmp_path, stage="prepare", dry_run=True)
    assert record == tmp_path / "data" / "prepare.json"


def test_a_manifest_changes_the_data_and_not_the_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mirror.toml").write_text('base = "wmt14_en_fr"\n')
    manifest = {"manifest": str(tmp_path / "mirror.toml")}
    realformer_nmt.run("wmt14_en_fr", layers="60-12", folder=tmp_path, gpus=8, dry_run=True, **manifest)
    assert "--lr 0.0012 " in capsys.readouterr().out  # the paper's for this corpus and depth
