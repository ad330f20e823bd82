"""A language model is none that translates, whatever words it knows."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq import checkpoint_utils, tasks
from omegaconf import OmegaConf
from programs import commands
from programs.fairseq_config import configured
from programs.processes import said
from programs.tiny_training import tiny_training

import realformer_nmt
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.evaluation.translating.translation_checks import check_same_languages
from realformer_nmt.exporting import loaded_run as exporting
from realformer_nmt.fairseq_patches.checkpoints import resume_checks
from realformer_nmt.protocols.running import updates

OPTIONS = ("--arch", "realformer_lm_tiny", "--optimizer", "adam", "--lr", "0.001", "--max-tokens", "500")

OF_CORPUS = ("prepared", "data", "subwords", "subwords_folder", "hyphens")


@pytest.fixture
def language_model(toy_corpus: Path, tmp_path: Path) -> Path:
    """Checkpoint of a language model of the very dictionary that the toy corpus has on either side."""
    shutil.copyfile(toy_corpus / "dict.src.txt", tmp_path / "dict.txt")
    cfg = updates.parse([str(tmp_path), "--task", "language_modeling", "--tokens-per-sample", "512", *OPTIONS])
    task = tasks.setup_task(cfg.task)
    history = {"num_updates": 1, "criterion_name": "CrossEntropyCriterion", "lr_scheduler_state": {}}
    extra = {"train_iterator": {"epoch": 1, "iterations_in_epoch": 1}, "val_loss": 1.0, "metrics": {}}
    counted = {"optimizer_history": [history], "extra_state": extra, "last_optimizer_state": None}
    state = {
        **counted,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "task_state": task.state_dict(),
    }
    torch.save({"args": None, "model": task.build_model(cfg.model).state_dict(), **state}, tmp_path / "lm.pt")
    return tmp_path / "lm.pt"


def test_a_language_model_does_not_pass_for_one_that_translates(language_model: Path, toy_corpus: Path) -> None:
    settings = {"_name": "translation", "data": str(toy_corpus), "source_lang": "src", "target_lang": "tgt"}
    checkpoint_utils.load_model_ensemble_and_task([str(language_model)])  # as itself
    with pytest.raises(UserError, match=r"lm\.pt holds a LanguageModel, which is no model for the TranslationTask"):
        checkpoint_utils.load_model_ensemble_and_task(
            [str(language_model)], task=tasks.setup_task(OmegaConf.create(settings))
        )
    corpus = text_pipeline.requested(CorpusOptions(data=toy_corpus, subwords="none"))
    with pytest.raises(UserError, match=r"lm\.pt is of --task language_modeling, whose models do not translate"):
        check_same_languages(language_model, torch.load(language_model, weights_only=False), corpus)
    with pytest.raises(UserError, match=r"lm\.pt is of --task language_modeling, whose models do not translate"):
        realformer_nmt.load(language_model)
    with pytest.raises(UserError, match=r"lm\.pt is of --task language_modeling, whose models do not translate"):
        exporting.load(language_model, CorpusOptions())


def test_a_multilingual_model_resumes_from_its_own_checkpoint_alone(tmp_path: Path) -> None:
    options = ("--arch", "multilingual_post_ln_tiny", "--task", "multilingual_translation", "--lang-pairs", "a-b")
    path, cfg = tmp_path / "one.pt", configured(*options)
    torch.save({"model": {}, "cfg": OmegaConf.to_container(cfg)}, path)
    resume_checks.check_same_model(path, SimpleNamespace(cfg=cfg, task=None))
    deeper = SimpleNamespace(cfg=configured(*options, "--encoder-layers", 7), task=None)
    with pytest.raises(UserError, match=r"one\.pt is of another model: --encoder-layers was 2 there and is 7 here"):
        resume_checks.check_same_model(path, deeper)


def test_a_training_without_the_state_of_its_optimizer_does_not_begin_again(
    toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """Its weights may be begun with where the user says so, and elsewhere."""
    length = ("--max-tokens", 400, "--max-update", 3)
    command = tiny_training(toy_corpus, user_dir, *length, "--no-save-optimizer-state")
    here, last = ["--save-dir", str(tmp_path / "run")], tmp_path / "run/checkpoint_last.pt"
    said([*command, *here], tmp_path)
    before = last.read_bytes()
    again = commands.run([*command, *here], folder=tmp_path, together=True)
    assert again.returncode == 1
    assert (
        f"{last}, of 3 updates, has no state of the optimizer to resume with, as after --no-save-optimizer-state: pass"
        in again.stdout
    )
    assert last.read_bytes() == before
    for options in (["--restore-file", str(last), "--save-dir", str(tmp_path / "x")], [*here, "--reset-optimizer"]):
        assert f"Loaded checkpoint {last} (epoch 1 @ 0 updates)" in said([*command, *options], tmp_path)
