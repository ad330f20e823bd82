"""COMET scores against the package unbabel-comet's, which `make comet-parity` records; files that are refused."""

import json
import re
from pathlib import Path

import pytest
import torch
from tiny_models import tiny_comet

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.comet import model_files, scorer
from realformer_nmt.evaluation.comet.scorer import CometScorer
from realformer_nmt.evaluation.metrics import metrics

EXPECTED = json.loads(Path(__file__).with_name("expected_scores.json").read_text())
SOURCE, HYPOTHESES, REFERENCE = (list(lines) for lines in zip(*tiny_comet.SENTENCES, strict=True))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def opened(folder: Path, name: str = "softmax") -> CometScorer:
    return CometScorer(model_files.find(str(tiny_comet.write(folder / name, name))))


def check_refused(folder: Path, message: str) -> None:
    with pytest.raises(UserError, match=message):
        CometScorer(model_files.find(str(folder)))


@pytest.mark.parametrize("name", tiny_comet.MODELS)
def test_scores_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """Odd characters, symbols spelt out, empty lines and lines longer than the table of positions are among them."""
    scores = opened(tmp_path, name).segments(SOURCE, HYPOTHESES, REFERENCE)
    assert scores == pytest.approx(EXPECTED["scores"][name], abs=1e-5)
    assert max(scores) - min(scores) > 1e-3  # so the tolerance tells sentences apart


def test_neither_order_nor_neighbours_of_a_segment_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(tmp_path)
    together = model.segments(SOURCE, HYPOTHESES, REFERENCE)
    monkeypatch.setattr(scorer, "BATCH", 3)
    backwards = model.segments(SOURCE[::-1], HYPOTHESES[::-1], REFERENCE[::-1])
    assert backwards[::-1] == pytest.approx(together, abs=1e-5)


def test_the_score_is_the_mean_of_its_segments_and_counts_empty_hypotheses(tmp_path: Path) -> None:
    model = opened(tmp_path)
    with metrics.seeded(3):
        score = scorer.score(model, SOURCE, HYPOTHESES, REFERENCE, 100)
    assert score.segments == pytest.approx([100 * value for value in EXPECTED["scores"]["softmax"]], abs=1e-3)
    assert score.score == pytest.approx(sum(score.segments) / len(SOURCE))
    assert score.empty == 1
    digest = r"model:softmax\|sha256:[0-9a-f]{16}\|precision:fp32\|transformers:[\d.]+"
    assert re.search(rf"nrefs:1\|bs:100\|seed:3\|{digest}\|version:", score.signature)
    assert isinstance(score.interval, float)
    assert 0 < score.interval < max(score.segments) - min(score.segments)


def changed(folder: Path, **hparams: object) -> Path:
    written = json.loads((folder / "hparams.yaml").read_text())
    (folder / "hparams.yaml").write_text(json.dumps({**written, **hparams}))
    return folder


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    checkpoint = folder / "checkpoints" / "model.ckpt"
    changed(folder, class_identifier="xcomet_metric")
    check_refused(folder, "class_identifier xcomet_metric is not one of regression_metric, unified_metr")
    changed(folder, class_identifier="unified_metric")
    check_refused(folder, r"model\.ckpt: .*size mismatch for estimator")
    changed(folder, class_identifier="regression_metric")
    state = torch.load(checkpoint)
    del state["state_dict"]["layerwise_attention.gamma"]
    torch.save(state, checkpoint)
    check_refused(folder, r"lacks layerwise_attention\.gamma \(1 weights in all\); --comet: allowed")
    torch.save({"state_dict": state["state_dict"], "hyper_parameters": Path("/")}, checkpoint)
    check_refused(folder, r"refused to load .* it holds pathlib")
    (folder / "hparams.yaml").write_text("a: [")
    state["hyper_parameters"] = {}
    torch.save(state, checkpoint)
    check_refused(folder, r"hparams\.yaml cannot be read")


def test_an_encoder_that_cannot_be_brought_is_one_line(tmp_path: Path) -> None:
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    (folder / "encoder").rename(folder / "elsewhere")
    check_refused(folder, r"the tokenizer of xlm-roberta-large cannot be read .* or put them into .*enc")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": 99}, r"layer 99 of a COMET model, whose encoder has 0 to 3; or `mix`"),
        ({"layer": "last"}, r"hparams\.yaml.*'last'"),
        ({"hidden_sizes": []}, r"hparams\.yaml.*length >= 1"),
        ({"input_segments": ["mt"]}, r"hparams\.yaml.*length >= 2"),
        ({"hidden_sizes": [-3]}, r"hparams\.yaml.*int.*>= 1"),
        ({"activations": "Transformer"}, "activations transformer is not one of tanh, sigmoid, identity"),
        ({"input_segments": ["src", "ref"], "class_identifier": "unified_metric"}, "allowed are mt, and src or ref or"),
    ],
)
def test_settings_that_no_model_has_are_refused(settings: dict[str, object], message: str, tmp_path: Path) -> None:
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    checkpoint = folder / "checkpoints" / "model.ckpt"
    state = torch.load(checkpoint)
    state["hyper_parameters"] |= settings
    torch.save(state, checkpoint)
    changed(folder, **settings)
    check_refused(folder, message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_hidden_layers": 2}, r"model\.ckpt has encoder\.model\.encoder\.layer\.2\..*a model without"),
        ({"model_type": "bert"}, "is of the type bert; allowed is xlm-roberta"),
        ({"vocab_size": 60}, r"has 50 subwords, and config\.json 60: put all files of one tokenizer there"),
    ],
)
def test_an_encoder_of_another_model_is_refused(settings: dict[str, object], message: str, tmp_path: Path) -> None:
    """It would compute another score: layers and subwords that are not there are nothing that torch refuses."""
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    config = folder / "encoder" / "config.json"
    config.write_text(json.dumps({**tiny_comet.ENCODER, **settings}))
    check_refused(folder, message)


def test_weights_that_give_no_number_are_refused(tmp_path: Path) -> None:
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    state = torch.load(folder / "checkpoints" / "model.ckpt")
    state["state_dict"]["estimator.ff.6.weight"][:] = torch.nan
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    with pytest.raises(UserError, match=r"model\.ckpt gives scores that are no numbers: it is damaged"):
        scorer.score(CometScorer(model_files.find(str(folder))), SOURCE, HYPOTHESES, REFERENCE, 10)


def test_settings_choose_no_file_and_no_address(tmp_path: Path) -> None:
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    encoder = (folder / "encoder").rename(tmp_path / "elsewhere")
    checkpoint = folder / "checkpoints" / "model.ckpt"
    state = torch.load(checkpoint)
    for name in (str(encoder), "../elsewhere", "somebody/encoder"):
        state["hyper_parameters"]["pretrained_model"] = name
        torch.save(state, checkpoint)
        check_refused(folder, r"pretrained_model .* is not one of xlm-roberta-base.*may stand in .*encoder")


def test_code_beside_an_encoder_is_not_run(tmp_path: Path) -> None:
    """Nor is anybody asked whether it should be."""
    folder = tiny_comet.write(tmp_path / "model", "softmax")
    config = folder / "encoder" / "config.json"
    (folder / "encoder" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    config.write_text(json.dumps({"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config"}}))
    check_refused(folder, r"the configuration and the tokenizer of .* cannot be read")
    assert not (tmp_path / "ran").exists()
