"""Models that were finetuned: what is measured of them, against fairseq's criterion, autograd and one-line errors."""

from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils
from msgspec import to_builtins
from texts.text_corpora import PLACED, SENTENCES
from tiny_models import saved

from realformer_nmt.analysis import depth, loaded_model
from realformer_nmt.analysis.analysis_record import LayerFigures
from realformer_nmt.analysis.measures.heads import measure
from realformer_nmt.analysis.text_readers import reader
from realformer_nmt.checkpoints import inspection
from realformer_nmt.common.errors import UserError

ANSWERS = ("--task", "question_answering", "--criterion", "question_answering", "--tokens-per-sample", 16)
KINDS = {
    "classes": (*SENTENCES, *PLACED),
    "numbers": (*SENTENCES[:4], *PLACED, "--num-classes", 1, "--regression-target"),
    "questions": (*ANSWERS, "--stride", 4, "--max-positions", 16),
}


@pytest.fixture(params=KINDS)
def model_and_data(request: pytest.FixtureRequest, text_corpus: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A model that nobody trained, and its data."""
    numbers = tmp_path / "numbers"
    (numbers / "label").mkdir(parents=True)
    (numbers / "input0").symlink_to(text_corpus / "input0")
    (numbers / "label" / "valid.label").write_text("".join(f"{place % 7}.5\n" for place in range(60)))
    data = {"classes": text_corpus, "numbers": numbers, "questions": text_corpus / "questions"}[request.param]
    flags = map(str, KINDS[request.param])
    state = saved.state(data, *flags, arch="realformer_bert_tiny", size=("--attention-dropout", "0"))
    return saved.save(tmp_path / "model.pt", state), data


def test_losses_and_gradients_are_fairseqs(model_and_data: tuple[Path, Path]) -> None:
    path, data = model_and_data
    checkpoint = loaded_model.load("model", path, inspection.build_any)
    read = reader(path).read(data, "valid", 9999)
    figures = depth.measure(checkpoint.model, read)
    (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(data)})
    task.load_dataset("valid")
    text, criterion = task.dataset("valid"), task.build_criterion(cfg.criterion)
    loss, number, _ = criterion(model.eval(), text.collater([text[place] for place in range(len(text))]))
    assert figures.loss == pytest.approx(float(loss) / number / torch.log(torch.tensor(2.0)).item(), rel=1e-4)
    (loss / number).backward()
    for layer, norm in zip(model.encoder.sentence_encoder.layers, figures.gradients["encoder"].norm, strict=True):
        squares = [float(each.grad.square().sum()) for each in layer.parameters() if each.grad is not None]
        assert norm == pytest.approx(sum(squares) ** 0.5, rel=1e-3)


def test_everything_is_measured_of_the_encoder(model_and_data: tuple[Path, Path]) -> None:
    path, data = model_and_data
    checkpoint, text_reader = loaded_model.load("model", path, inspection.build_any), reader(path)
    read = text_reader.read(data, "valid", 6)
    attention = measure(checkpoint, read, None).record()
    assert list(attention.chains) == ["encoder"]
    by_depth = depth.study(checkpoint, read)
    states = to_builtins([by_depth.start, by_depth.checkpoint])
    assert [list(state) for state in states] == [list(LayerFigures.__struct_fields__)] * 2
    assert len(by_depth.left_out["encoder"]) == 2
    assert text_reader.sentence(checkpoint.model, read, "a b").source == ["<s>", "a", "b", "</s>"]


def test_what_is_not_there_is_named(model_and_data: tuple[Path, Path]) -> None:
    path, data = model_and_data
    with pytest.raises(UserError, match=r"/dev; give another --subset|dev\.json: no such file"):
        reader(path).read(data, "dev", 6)


def test_sentences_without_labels_are_refused(text_corpus: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "label").mkdir(parents=True)
    (data / "label" / "dict.txt").symlink_to(text_corpus / "label" / "dict.txt")
    (data / "input0").symlink_to(text_corpus / "input0")
    flags = map(str, KINDS["classes"])
    state = saved.state(text_corpus, *flags, arch="realformer_bert_tiny", size=("--attention-dropout", "0"))
    with pytest.raises(UserError, match="data has no labels of valid: give a subset that has labels"):
        reader(saved.save(tmp_path / "model.pt", state)).read(data, "valid", 6)
