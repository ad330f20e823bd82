"""run.json of a real model, and what a second call makes of it."""

import json
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import torch
from programs import argv, commands
from programs.program import realformer_nmt
from sacrebleu.metrics import BLEU

from realformer_nmt.checkpoints import average as average_command
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import read_lines, sha256
from realformer_nmt.evaluation.scoring import score
from realformer_nmt.evaluation.translating import translate


class Scored(NamedTuple):
    """A translation of an average of two, and the record and the output of its scores."""

    average: Path
    translation: Path
    record: Path
    options: list[object]
    printed: str

    @property
    def content(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.record.read_text())
        return record


@pytest.fixture(scope="module")
def scored(run: Path, toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    folder = tmp_path_factory.mktemp("scored")
    average, out, train = folder / "average.pt", folder / "out", folder / "train.json"
    record = folder / "runs" / "run.json"
    session = {"started": "2026-01-01T00:00:00+00:00", "seconds": 9000.0, "gpus": 8}
    training = {"protocol": "realformer", "sessions": [session], "wall_clock_hours": 2.5, "gpu_hours": 20.0}
    listed = {sha256(path): path.name for path in run.glob("checkpoint*.pt")}
    json_records.write_sealed(train, {**training, "checkpoints": listed, "complete": True})
    assert called(average_command, run, "--best", 2, "--output", average) == 0
    corpus = ["--data", toy_corpus, "--subwords", "none"]
    decoding = ["--cpu", "--beam", 2, "--max-len-a", 1, "--max-len-b", 2]
    assert called(translate, average, *corpus, *decoding, "--validate", "--output", out) == 0
    options = ["--reference", toy_corpus.parent / "test.tgt", "--published", "WMT14 En-De", "--output", record]
    done = realformer_nmt("score", out, *options, "--training", train)
    assert (done.returncode, done.stderr) == (0, "")
    return Scored(average, out, record, [*options, "--training", train], done.stdout)


def called(command: ModuleType, *words: object) -> int:
    with commands.starting_forks():
        status: int = argv.read(command.REQUEST, *words).run()
    return status


def test_the_score_is_that_of_the_files_it_names(scored: Scored, toy_corpus: Path) -> None:
    record, reference = scored.content, toy_corpus.parent / "test.tgt"
    hypotheses = (scored.record.parent / record["files"]["hypotheses"]["path"]).resolve()
    assert hypotheses == (scored.translation / "hypotheses.txt").resolve()
    assert sha256(hypotheses) == record["files"]["hypotheses"]["sha256"]
    expected = BLEU().corpus_score(read_lines(hypotheses), [read_lines(reference)]).score
    assert record["scores"]["bleu"]["score"] == pytest.approx(expected)
    assert expected > 1
    assert re.search(rf"^sacreBLEU +{expected:.2f} ", scored.printed, re.M)
    assert record["lines"] == 61
    assert scored.printed.startswith("test, 61 lines\n")
    assert record["versions"]["sacrebleu"] in record["scores"]["bleu"]["signature"]


def test_the_model_is_described(scored: Scored, run: Path) -> None:
    record = scored.content
    assert (record["arch"], record["protocol"], record["training_seed"]) == ("realformer_tiny", "realformer", 3)
    weights = torch.load(scored.average, weights_only=False)["model"]
    unique = {t.data_ptr(): t.numel() for name, t in weights.items() if not name.endswith(("w0", "version"))}
    assert record["parameters"] == sum(unique.values())
    assert len(record["averaged"]) == 2
    assert all(name.startswith("checkpoint.best_bleu") for name in record["averaged"])
    assert record["models"][0]["sha256"] == sha256(scored.average)
    members = {member["file"]: member["sha256"] for member in record["models"][0]["averaged"]}
    assert members == {name: sha256(run / name) for name in record["averaged"]}


def test_hours_decoding_validation_and_published_figures_are_there(scored: Scored) -> None:
    record = scored.content
    assert (record["wall_clock_hours"], record["gpu_hours"]) == (2.5, 20.0)
    assert 0 < record["models"][0]["wall_clock_hours"] < 1
    assert record["decoding"]["beam"] == 2
    assert record["validation"] == json.loads((scored.translation / "translation.json").read_text())["validation"]
    assert f"validation: loss {record['validation']['loss']:.3f}, greedy BLEU " in scored.printed
    assert {figure["comparable_with"] for figure in record["published"]} == {None}
    assert "29.35" in scored.printed
    assert "tokenised BLEU newstest2014" in scored.printed


def test_asked_again_it_is_done_and_keeps_no_other_trainings_hours(scored: Scored) -> None:
    before = scored.record.read_bytes()
    assert called(score, scored.translation, *scored.options) == 0
    with pytest.raises(UserError, match=r"run\.json was made with --training: give it again"):
        called(score, scored.translation, *scored.options[:-2])
    assert scored.record.read_bytes() == before


def test_the_model_is_of_the_training_or_refused(scored: Scored, tmp_path: Path) -> None:
    assert scored.content["training_checked"] is True
    other = tmp_path / "train.json"
    training = json_records.read(Path(str(scored.options[-1])), "")
    json_records.write_sealed(other, {**training, "checkpoints": {"a": "checkpoint_last.pt"}})
    options = [*scored.options[:-3], tmp_path / "run.json", "--training", other]
    with pytest.raises(UserError, match=r"out is of another training than .*: checkpoint.*; give --training the train"):
        called(score, scored.translation, *options)


def test_another_model_under_the_same_name_is_refused(scored: Scored, run: Path, tmp_path: Path) -> None:
    backup = shutil.copy(scored.average, tmp_path)
    shutil.copy(run / "checkpoint5.pt", scored.average)
    message = r"run\.json was made with other settings or files: average\.pt is another file"
    with pytest.raises(UserError, match=message):
        called(score, scored.translation, *scored.options)
    with pytest.raises(UserError, match=r"average\.pt has changed since the translation: translate again"):
        called(score, scored.translation, *scored.options, "--fresh")
    shutil.copy(backup, scored.average)
