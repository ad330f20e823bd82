"""The files that a score is made from: named, or removed later; the source and the model of COMET."""

from pathlib import Path

import pytest
from programs import argv
from texts.scored_folders import folder_of, request, scored
from texts.word_salad import texts
from tiny_models import tiny_comet

from realformer_nmt.common import extras
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.evaluation.comet import model_files
from realformer_nmt.evaluation.comet.scorer import CometScorer
from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.evaluation.scoring import scoring
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating import evaluation_sets, translation_record


def test_a_text_that_is_named_needs_no_test_set(tmp_path: Path) -> None:
    """The file of the test set is not there."""
    hypotheses, reference = texts(number=3)
    folder = folder_of(tmp_path, hypotheses, reference, test_set=str(tmp_path / "removed.tsv"))
    assert scoring.stage_of(request(folder)).inputs["reference"] == folder / "reference.txt"
    model = tiny_comet.write(tmp_path / "model", "softmax")
    stage = scoring.stage_of(request(folder, "--comet", str(model), "--source", str(folder / "hypotheses.txt")))
    assert stage.inputs["source"] == folder / "hypotheses.txt"
    with pytest.raises(UserError, match=r"--test-set .*removed\.tsv: no such file"):
        scoring.stage_of(request(folder, "--comet", str(model)))


def test_a_test_set_may_be_removed_when_it_is_unpacked(tmp_path: Path) -> None:
    hypotheses, reference = texts(number=3)
    file, out = tmp_path / "set.tsv", tmp_path / "out"
    rows = "".join(f"{source}\t{target}\n" for source, target in zip("abc", reference, strict=True))
    file.write_text(f"src\tref\n{rows}")
    unpacked = evaluation_sets.find(str(file), ("en", "de"))
    origin = {"inputs": {"input": {"sha256": sha256(unpacked.source)}}}
    folder_of(out, hypotheses, test_set=str(file), made_from=origin)
    again = argv.read(ScoreRequest, out, "--output", out / "run.json")
    stage = again.stage()
    stage.write(RunRecord(translation=translation_record.read(out), made_from=stage.new_origin()))
    file.unlink()
    assert again.run() == 0
    unpacked.reference.write_text("edited\n")
    with pytest.raises(UserError, match="reference is another file"):
        again.run()
    unpacked.source.write_text("edited\n")
    with pytest.raises(UserError, match=r"out is no translation of .*set\.tsv\.en-de\.en"):
        again.run()


def test_comet_is_never_left_out_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hypotheses, reference = texts(number=3)
    folder = folder_of(tmp_path / "out", hypotheses, reference)
    with pytest.raises(UserError, match="--comet /no/model: no such file; allowed are a folder with "):
        request(folder, "--comet", "/no/model").run()
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module == "transformers" else module)
    with pytest.raises(ModuleNotFoundError, match=r"transformers is not installed: pip install 'realformer-nmt\[hugg"):
        request(folder, "--comet").run()


def test_comet_is_a_setting_by_name_and_an_input_by_hash(tmp_path: Path) -> None:
    """A model that has moved is the same one."""
    hypotheses, reference = texts(number=3)
    folder = folder_of(tmp_path / "out", hypotheses, reference)
    model = tiny_comet.write(tmp_path / "model", "softmax")
    source = tmp_path / "source.txt"
    source.write_text("a\nb\nc\n")
    options = ["--comet", model, "--source", source]
    stage = scoring.stage_of(request(folder, *map(str, options)))
    assert stage.settings["comet"] == "model"
    assert (stage.inputs["comet"], stage.inputs["source"]) == (model / "checkpoints" / "model.ckpt", source)
    beside = {name: path.name for name, path in stage.inputs.items() if name.startswith("comet's ")}
    assert set(beside.values()) == {path.name for path in model.rglob("*") if path.is_file()} - {"model.ckpt"}
    assert beside["comet's hparams.yaml"] == "hparams.yaml"
    assert scoring.stage_of(request(folder)).settings["comet"] is None
    scores = scored(folder, *map(str, options), "--bootstrap", "0")
    by_model = CometScorer(model_files.find(str(model))).segments(["a", "b", "c"], hypotheses, reference)
    assert scores["comet"].segments == pytest.approx([100 * value for value in by_model], abs=1e-4)
    assert scores["comet"].metric == "COMET x 100"


def test_a_source_of_another_number_of_lines_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused before anything is scored and a model is loaded."""
    folder = folder_of(tmp_path / "out", *texts(number=5))
    (tmp_path / "source.txt").write_text("a\nb\nc\n")
    model = tiny_comet.write(tmp_path / "model", "softmax")
    monkeypatch.setattr(metrics, "scores", lambda *_: pytest.fail("it scored first"))
    with pytest.raises(UserError, match=r"the source has 3 lines, and there are 5 hypotheses: .*--source FILE"):
        scored(folder, "--comet", str(model), "--source", str(tmp_path / "source.txt"))


def test_comet_is_computed_on_the_cpu_where_there_is_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is no setting of the record."""
    folder = folder_of(tmp_path / "out", *texts(number=3))
    model, source = tiny_comet.write(tmp_path / "model", "softmax"), folder / "reference.txt"
    options = ["--comet", str(model), "--source", str(source), "--bootstrap", "0"]
    expected = scored(folder, *options)["comet"]
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert scored(folder, *options, "--cpu")["comet"] == expected
    on_cpu, elsewhere = (scoring.stage_of(request(folder, *options, *more)).settings for more in (["--cpu"], []))
    assert on_cpu == elsewhere
