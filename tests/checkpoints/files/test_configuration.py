"""All of a translation model's own settings are taken from its checkpoint, and none that acts."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils, utils
from fairseq.logging.meters import ConcatTensorMeter, MetersDict
from tiny_models import saved

from realformer_nmt.checkpoints.files.allowed_components import SettingsError
from realformer_nmt.checkpoints.files.configuration import take_settings
from realformer_nmt.common.errors import UserError

SEARCH = '{"beam": 4, "max_len_a": 1.2, "max_len_b": 10}'
EVAL_BLEU = ("--eval-bleu", "--eval-bleu-args", SEARCH, "--eval-bleu-detok", "moses", "--eval-bleu-remove-bpe")
NARROW = ("--encoder-embed-dim", "8", "--decoder-embed-dim", "8")
STOCK = (*NARROW, "--encoder-normalize-before", "--activation-fn", "gelu")


@pytest.fixture(scope="module")
def stock(toy_corpus: Path) -> dict[str, Any]:
    """State of fairseq's own transformer, whose options are those of its whole command line."""
    return saved.state(toy_corpus, *STOCK, *EVAL_BLEU, arch="transformer")


def test_a_stock_model_is_the_same_one(stock: dict[str, Any]) -> None:
    """fairseq reads these options of a transformer; all that can be said of one is among them."""
    from fairseq.models.transformer import TransformerConfig

    expected, actual = vars(stock["cfg"]["model"]), vars(take_settings(stock)["cfg"]["model"])
    sides = [f"{side}_{name}" for side in ("encoder", "decoder") for name in vars(TransformerConfig().encoder)]
    names = [name for name in (*vars(TransformerConfig()), *sides) if name in expected and not name.endswith("_path")]
    assert len(names) > 30
    assert {name: actual[name] for name in names} == {name: expected[name] for name in names}
    shown = ("encoder_normalize_before", "activation_fn", "_name")
    assert [actual[name] for name in shown] == [True, "gelu", "transformer"]


def test_the_task_and_the_loss_are_all_there(stock: dict[str, Any]) -> None:
    cfg, settings = stock["cfg"], take_settings(stock)["cfg"]
    assert settings["task"] == {**cfg["task"], "dataset_impl": None}
    assert settings["criterion"] == cfg["criterion"]


@pytest.mark.parametrize("old", [False, True])
def test_a_stock_checkpoint_translates_and_validates(
    stock: dict[str, Any], toy_corpus: Path, tmp_path: Path, old: bool
) -> None:
    """One of an older fairseq, which stored the options of the command line alone, is tried too."""
    state = dict(stock)
    if old:
        state["args"] = state.pop("cfg")["model"]
    path = saved.save(tmp_path / "stock.pt", state)
    (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(toy_corpus)})
    assert model.encoder.layers[0].normalize_before
    assert model.encoder.layers[0].activation_fn is utils.get_activation_fn("gelu")
    assert all(torch.equal(weight, stock["model"][name]) for name, weight in model.state_dict().items())
    assert type(task.build_criterion(cfg.criterion)).__name__ == "CrossEntropyCriterion"
    assert task.sequence_generator.beam_size == 4
    assert cfg.task.eval_bleu_remove_bpe == "@@ "


@pytest.mark.parametrize("data", ["${oc.env:HOME}", "https://127.0.0.1:9/data", 5])
def test_the_callers_data_take_the_place_of_a_path_that_is_not_taken(
    stock: dict[str, Any], toy_corpus: Path, tmp_path: Path, data: object
) -> None:
    cfg = stock["cfg"]
    path = saved.save(tmp_path / "stock.pt", {**stock, "cfg": {**cfg, "task": {**cfg["task"], "data": data}}})
    _, _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], {"data": str(toy_corpus)})
    assert task.cfg.data == str(toy_corpus)


def test_each_word_that_is_not_known_is_named(stock: dict[str, Any]) -> None:
    cfg = stock["cfg"]
    changes: list[tuple[dict[str, Any], str]] = [
        ({"criterion": {"_name": "sentence_ranking"}}, "asks for the criterion 'sentence_ranking'; a .* cross_entropy"),
        (
            {"task": {**cfg["task"], "_name": "denoising"}},
            "asks for the task 'denoising'; a checkpoint may .* translation",
        ),
        ({"model": Namespace(arch="wav2vec2")}, "asks for the model 'wav2vec2'"),
        ({"model": {"wav2vec2": {"a": 1}}}, "its model has no name"),
        ({"bpe": {"_name": "gpt2"}}, "asks for the bpe 'gpt2'"),
        ({"tokenizer": "unheard"}, "asks for the tokenizer 'unheard'"),
        ({"task": {**cfg["task"], "source_lang": "${oc.env:HOME}"}}, r"task's source_lang '\$\{oc\.env:HOME\}'"),
        ({"task": {**cfg["task"], "eval_bleu_args": '{"lm_path": "/x"}'}}, "task's eval_bleu_args .* allowed"),
        ({"model": 7}, "its model has no name"),
    ]
    for changed, message in changes:
        with pytest.raises(SettingsError, match=message):
            take_settings({**stock, "cfg": {**cfg, **changed}})


def test_a_name_alone_chooses_a_tokeniser(stock: dict[str, Any]) -> None:
    cfg = {**stock["cfg"], "tokenizer": "moses", "bpe": {"_name": "subword_nmt", "bpe_codes": "/etc/passwd"}}
    settings = take_settings({**stock, "cfg": cfg})["cfg"]
    assert settings["tokenizer"] == "moses"
    assert settings["bpe"] == {"_name": "subword_nmt", "bpe_codes": "???"}


def test_a_meter_of_predictions_is_fairseqs(stock: dict[str, Any]) -> None:
    """`--report-mcc` and its like keep the predictions of a validation, and fairseq saves all meters."""
    meters = MetersDict()
    meters.add_meter("pred", ConcatTensorMeter(), 10)
    meters["pred"].update(torch.tensor([1, 0]))
    restored = MetersDict()
    saved_state = {**stock, "extra_state": {"metrics": {"valid": meters.state_dict()}}}
    restored.load_state_dict(take_settings(saved_state)["extra_state"]["metrics"]["valid"])
    assert restored["pred"].tensor.tolist() == [1, 0]


def test_the_file_is_named(stock: dict[str, Any], tmp_path: Path) -> None:
    cfg = {**stock["cfg"], "criterion": {"_name": "sentence_ranking", "save_predictions": str(tmp_path / "proof")}}
    path = saved.save(tmp_path / "ranking.pt", {**stock, "cfg": cfg})
    with pytest.raises(UserError, match=r"^\S+ranking\.pt asks for the criterion 'sentence_ranking'"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert not (tmp_path / "proof").exists()
