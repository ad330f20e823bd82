"""Values of a checkpoint's settings: those of language models are all there, and none acts."""

from pathlib import Path
from typing import Any

import pytest
from tiny_models import saved

from realformer_nmt.checkpoints.files.allowed_components import SettingsError
from realformer_nmt.checkpoints.files.configuration import take_settings


@pytest.fixture(scope="module")
def stock(toy_corpus: Path) -> dict[str, Any]:
    return saved.state(toy_corpus)


TEXT_TASKS: dict[str, dict[str, Any]] = {
    "language_modeling": {"sample_break_mode": "eos", "shorten_method": "truncate", "tokens_per_sample": 32},
    "masked_lm": {"sample_break_mode": "complete_doc", "shorten_data_split_list": "train,valid", "mask_prob": 0.2},
    "sentence_prediction": {"shorten_method": "random_crop", "num_classes": 3},
    "question_answering": {"tokens_per_sample": 32, "stride": 8},
}


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_text_is_parted_as_it_was_in_training(stock: dict[str, Any], name: str) -> None:
    """The loss of a language model would else be that of other samples."""
    task = {"_name": name, **TEXT_TASKS[name]}
    task_settings = take_settings({**stock, "cfg": {**stock["cfg"], "task": task}})["cfg"]["task"]
    assert {field: task_settings.get(field) for field in task} == task


def test_no_switch_asks_a_program_of_the_machine(stock: dict[str, Any]) -> None:
    """fairseq would take arrays from whoever listens at /tmp/plasma."""
    task = {"_name": "language_modeling", "use_plasma_view": True, "plasma_path": "other"}
    common = {**stock["cfg"]["common"], "use_plasma_view": True, "azureml_logging": True}
    settings = take_settings({**stock, "cfg": {**stock["cfg"], "task": task, "common": common}})["cfg"]
    assert settings["task"] == {"_name": "language_modeling"}
    assert not settings["common"]["use_plasma_view"]
    assert not settings["common"]["azureml_logging"]


@pytest.mark.parametrize("value", [["/etc/passwd"], {"name": "$(id)"}, {"http://127.0.0.1:9": 1}, [[1, ("a/b",)]]])
def test_a_text_within_a_table_is_a_text_too(stock: dict[str, Any], value: Any) -> None:
    model = {"_name": "transformer_lm", "decoder_xformers_att_config": value}
    with pytest.raises(SettingsError, match=r"model's decoder_xformers_att_config .* neither a number nor a name"):
        take_settings({**stock, "cfg": {**stock["cfg"], "model": model}})
