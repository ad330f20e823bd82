"""The command, over checkpoints of models that nobody trained."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from lxml import etree
from programs import argv
from programs.program import realformer_nmt
from tiny_models import analysed, saved

from realformer_nmt.analysis import analysis_run, loaded_model
from realformer_nmt.analysis.analyse import AnalyseRequest
from realformer_nmt.analysis.hooks import CHAINS
from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.common.errors import UserError

DEPTH = {"gradients", "stream", "branches", "effective_w", "disturbance", "cosine", "effective_rank", "cka", "left_out"}


@pytest.fixture(scope="module")
def models(once: Once, toy_corpus: Path) -> Path:
    return once("analysed_models", analysed.Models(toy_corpus))


@pytest.fixture(scope="module")
def filled(models: Path, once: Once) -> Path:
    return once("analysis", analysed.Analysis(models))


def test_the_record_says_what_was_measured_of_what(filled: Path, toy_corpus: Path) -> None:
    record = json.loads((filled / "analysis.json").read_text())
    first, second = record["models"]
    assert (first["name"], first["score_carry"]) == ("run", "mean")
    assert (second["name"], second["residual_topology"]) == ("pre", "pre")
    inputs = record["made_from"]["inputs"]
    assert {"run.pt", "pre.pt", "valid.src-tgt.src.bin", "dict.src.txt", "alignment"} <= inputs.keys()
    sources = (toy_corpus.parent / "valid.src").read_text().splitlines()
    read = np.linspace(0, len(sources) - 1, 40).round().astype(int)
    words = sum(len(sources[place].split()) + 1 for place in read)
    for model in (first, second):
        assert model["attention"]["unit"] == "bits"
        chains = model["attention"]["chains"]
        assert {chain: figures["queries"] for chain, figures in chains.items()} == dict.fromkeys(CHAINS, words)
        assert np.shape(chains["decoder"]["entropy"]["mean"]) == (2, 4)
        assert np.shape(chains["decoder"]["divergence"]["mean"]) == (1, 4)
        assert np.all(np.array(chains["encoder-decoder"]["alignment_error_rate"]) > 0.5)
        assert model["depth"]["sentences"] == 40
        assert model["sentence"]["source"] == ["a", "b", "c", "</s>"]
        assert [len(losses) for losses in model["depth"]["left_out"].values()] == [2, 2]
        assert model["depth"]["start"]["loss"] == pytest.approx(model["depth"]["checkpoint"]["loss"], rel=0.3)


def test_every_figure_is_an_svg_and_a_png(filled: Path) -> None:
    names = json.loads((filled / "analysis.json").read_text())["outputs"]
    drawn = {name.rpartition(".")[0] for name in names}
    kinds = ("entropy_{}", "divergence_{}", "looks_{}", "sentence_{}_1", "sentence_{}_2")
    assert drawn == {*DEPTH, *(kind.format(chain) for kind in kinds for chain in CHAINS)}
    for name in names:
        content = (filled / name).read_bytes()
        if name.endswith(".svg"):
            assert etree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert content.startswith(b"\x89PNG")
    assert {file.name for file in filled.iterdir()} == {*names, "analysis.json"}


def test_a_run_is_analysed_in_its_own_folder(models: Path) -> None:
    run = models / "run"
    record = analysis_run.stage_of(argv.read(AnalyseRequest, run), {}, {}).record
    assert record == run / "analysis" / "analysis.json"
    for words in ([run, models / "pre.pt"], [models / "pre.pt"]):
        with pytest.raises(UserError, match="pass --output FOLDER: only for the folder of one run"):
            argv.read(AnalyseRequest, *words).run()


def test_a_second_call_finds_it_done(filled: Path, models: Path) -> None:
    words = ["analyse", models / "run", models / "pre.pt", "--output", filled, "--cpu", "--alignment", models / "links"]
    words += ["--sentence", "a b c"]
    done = realformer_nmt(*words, "--sentences", 40)
    assert "up to date" in done.stdout
    refused = realformer_nmt(*words, "--sentences", 41)
    assert refused.returncode == 1
    assert "sentences was 40, is now 41" in refused.stderr
    alone = realformer_nmt("analyse", models / "run", *words[3:-4], "--sentence", "a b c", "--sentences", 40)
    assert alone.returncode == 1
    assert "models was 2, is now nothing; aligned was True, is now nothing" in alone.stderr


@pytest.mark.parametrize("other", ["a/best.pt", "b/best"])
def test_models_of_the_same_name_are_all_analysed(other: str, models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "run", tmp_path / "a/best")
    if other.endswith(".pt"):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        shutil.copyfile(models / "pre.pt", tmp_path / other)
    else:
        shutil.copytree(models / "run", tmp_path / other)
    paths = [tmp_path / "a/best", tmp_path / other]
    named = loaded_model.paths_by_name([*paths, models / "pre.pt"])
    assert list(named) == [*map(str, paths), "pre"]
    assert list(named.values()) == [model_in_run.checkpoint(path) for path in (*paths, models / "pre.pt")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{models}"], "{models} holds no model: there is none of average.pt,"),
        (["{models}/other.pt"], "give the --data that it was trained on"),
        (["{models}/pre.pt", "--data", "{models}/run"], "{models}/run holds no binarised pair of languages"),
    ],
)
def test_errors_are_one_line(words: list[str], message: str, models: Path, tmp_path: Path) -> None:
    done = realformer_nmt("analyse", *(word.format(models=models) for word in words), "--output", tmp_path / "out")
    assert done.returncode == 1
    assert message.format(models=models) in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "analysis.json").exists()


def test_a_foreign_file_in_place_of_a_figure_is_refused(models: Path, tmp_path: Path) -> None:
    name = "sentence_decoder_1.svg"
    (tmp_path / name).write_text("mine")
    request = argv.read(AnalyseRequest, models / "pre.pt", "--output", tmp_path, "--sentence", "a b", "--cpu")
    with pytest.raises(UserError, match=f"{name} exists, and nothing says that `realformer-nmt analyse` wrote it"):
        request.run()
    assert (tmp_path / name).read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_data_that_is_gone(toy_corpus: Path, tmp_path: Path) -> None:
    state = saved.state(toy_corpus)
    state["cfg"]["task"]["data"] = str(tmp_path / "gone")
    done = realformer_nmt("analyse", saved.save(tmp_path / "model.pt", state), "--output", tmp_path / "out")
    assert done.returncode == 1
    assert f"was trained on {tmp_path / 'gone'}, which is not there: pass --data DATA-BIN" in done.stderr
