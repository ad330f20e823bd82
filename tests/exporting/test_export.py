"""The command: what it refuses, what it leaves, and what its folder holds."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch
from fixture_types import Once
from tiny_models import exportable, saved

from realformer_nmt import subcommands
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.corpora.preparing.cleaning import Steps
from realformer_nmt.corpora.subwords import sentencepiece_subwords
from realformer_nmt.corpora.subwords.subwords import TrainingTexts
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.exporting import loaded_run
from realformer_nmt.exporting.export import TARGETS
from reliability.disks import files_up_to


@pytest.fixture(scope="module")
def checkpoint(once: Once, toy_corpus: Path) -> Path:
    def build(folder: Path) -> None:
        exportable.checkpoint(folder / "average.pt", toy_corpus, "admin_tiny")

    return once("exported_admin", build) / "average.pt"


def words(data: Path, output: Path, to: str = "fairseq") -> list[str]:
    return ["--to", to, "--data", str(data), "--subwords", "none", "--output", str(output)]


def test_of_a_runs_folder_it_takes_the_average_and_says_what_it_took(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new" / "exported"
    assert subcommands.main(["export", str(checkpoint.parent), *words(toy_corpus, output)]) == 0
    assert capsys.readouterr().out == f"{output}: {checkpoint} as {TARGETS['fairseq'].what}\n"
    assert sorted(file.name for file in output.iterdir()) == [
        *("dict.src.txt", "dict.tgt.txt", "export.json", "model.pt")
    ]
    inputs = json.loads((output / "export.json").read_text())["made_from"]["inputs"]
    assert inputs["average.pt"]["sha256"] == sha256(checkpoint)
    for name in ("dict.src.txt", "dict.tgt.txt"):
        assert (output / name).read_bytes() == (toy_corpus / name).read_bytes()


def test_a_sentencepiece_model_needs_no_dictionary_beside_it(toy_corpus: Path, tmp_path: Path) -> None:
    """A data-bin of fairseq-preprocess has its dictionaries; no target reads a third."""
    subwords, output = tmp_path / "subwords", tmp_path / "exported"
    subwords.mkdir()
    texts = TrainingTexts(toy_corpus.parent / "valid.src", toy_corpus.parent / "valid.tgt", 203, True)
    sentencepiece_subwords.learn(texts, subwords, 280, 1)
    (subwords / "dictionary.txt").unlink()
    checkpoint = exportable.checkpoint(tmp_path / "model.pt", toy_corpus, "admin_tiny")
    corpus = ("--data", str(toy_corpus), "--subwords", "sentencepiece", "--subwords-folder", str(subwords))
    assert subcommands.main(["export", str(checkpoint), "--to", "fairseq", *corpus, "--output", str(output)]) == 0
    assert sorted(file.name for file in output.iterdir()) == [
        *("dict.src.txt", "dict.tgt.txt", "export.json", "model.pt", "sentencepiece.model")
    ]


def test_a_prepared_folder_has_its_dictionary(tmp_path: Path) -> None:
    corpus = TextPipeline(tmp_path, "src", "tgt", "sentencepiece", tmp_path, Steps("src"), prepared=tmp_path)
    assert [file.name for file in loaded_run.subwords(corpus)] == ["sentencepiece.model", "dictionary.txt"]


@pytest.mark.parametrize("to", TARGETS)
def test_a_full_disk_is_named_and_nothing_is_left(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernel lets no file grow over 16 KiB."""
    with files_up_to(1 << 14):
        status = subcommands.main(["export", str(checkpoint), *words(toy_corpus, tmp_path / "exported", to)])
    assert status == 1
    assert re.search(
        r"/exported: File too large: more room is needed, [\d,]+ are free; .*\n\Z", capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("mine")
    assert subcommands.main(["export", str(checkpoint), *words(toy_corpus, tmp_path)]) == 1
    assert f"{tmp_path} is there already: name another folder" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_model_of_another_dictionary_is_refused(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(toy_corpus, tmp_path / "other")
    lines = (other / "dict.tgt.txt").read_text().splitlines(keepends=True)
    for changed, message in (
        ([*lines, "added 1\n"], "has dictionaries of 16 and 16 entries"),
        ([*lines[1::-1], *lines[2:]], "the checkpoint was trained with another target dictionary than that of"),
    ):
        (other / "dict.tgt.txt").write_text("".join(changed))
        assert subcommands.main(["export", str(checkpoint), *words(other, tmp_path / "exported")]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "exported").exists()


def test_shortcuts_too_small_to_be_folded_are_refused(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = torch.load(checkpoint, weights_only=False)  # our own
    for name in [name for name in state["model"] if "_shortcut." in name]:
        state["model"][name].fill_(0 if name.endswith("delta") else 1e-42)
    bad = saved.save(tmp_path / "bad.pt", state)
    assert subcommands.main(["export", str(bad), *words(toy_corpus, tmp_path / "exported")]) == 1
    assert "leaves fp32's range when shortcuts are folded into it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.pt"]


def test_a_precision_that_a_target_cannot_write_is_refused(
    checkpoint: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*words(toy_corpus, tmp_path / "out", "huggingface"), "--precision", "int8"]
    assert subcommands.main(["export", str(checkpoint), *options]) == 1
    assert "--precision int8 is not one of --to huggingface's: fp32" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flag", "value", "allowed"),
    [
        ("--encoder-attention-pattern", "local", "models of full attention"),
        ("--encoder-relative-positions", "4", "models without them"),
    ],
)
def test_attention_that_other_programs_lack_is_refused_by_every_target(
    flag: str, value: str, allowed: str, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = exportable.checkpoint(tmp_path / "local.pt", toy_corpus, "admin_tiny", flag, value)
    for target in TARGETS:
        assert subcommands.main(["export", str(local), *words(toy_corpus, tmp_path / "exported", target)]) == 1
        message = f"{local} has {flag} {value}: only {allowed} are exported"
        assert message in capsys.readouterr().err


def test_without_its_packages_a_target_says_what_to_install(
    checkpoint: Path,
    toy_corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delitem(sys.modules, "realformer_nmt.exporting.marian", raising=False)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    monkeypatch.setattr(loaded_run, "load", lambda *_: pytest.fail("it loaded the model first"))
    assert subcommands.main(["export", str(checkpoint), *words(toy_corpus, tmp_path / "out", "huggingface")]) == 1
    assert "needs safetensors: pip install 'realformer-nmt[huggingface]'\n" in capsys.readouterr().err
