"""A training resumes from a checkpoint of its model and languages."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils, tasks
from omegaconf import OmegaConf
from programs.fairseq_config import configured
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.checkpoints import resume_checks


@pytest.fixture(scope="module")
def checkpoint(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved.save(tmp_path_factory.mktemp("pair") / "pair.pt", saved.state(toy_corpus))


def task(data: Path, source: str, target: str) -> Any:
    return tasks.setup_task(
        OmegaConf.create({"_name": "translation", "data": str(data), "source_lang": source, "target_lang": target})
    )


def test_decoding_and_validating_the_other_way_round_is_refused(checkpoint: Path, toy_corpus: Path) -> None:
    """fairseq-generate loads with the task of the command line, and fairseq-validate with the checkpoint's."""
    message = r"pair\.pt: the checkpoint translates from src to tgt, but asked for is tgt to src: give --source-lang"
    with pytest.raises(UserError, match=message):
        checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], task=task(toy_corpus, "tgt", "src"))
    reversed_pair = {"data": str(toy_corpus), "source_lang": "tgt", "target_lang": "src"}
    with pytest.raises(UserError, match=message):
        checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], reversed_pair)
    assert checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], task=task(toy_corpus, "src", "tgt"))


def trainer(checkpoint: Path, of: Any, finetuning: bool, **model: str | int) -> Any:
    options = {"finetune_from_model": str(checkpoint) if finetuning else None}
    return SimpleNamespace(task=of, cfg=SimpleNamespace(model=model, checkpoint=SimpleNamespace(**options)))


def test_weights_of_full_attention_are_finetuned_with_a_window_but_do_not_go_on_so(
    checkpoint: Path, toy_corpus: Path
) -> None:
    local = {"residual_topology": "post", "encoder_attention_pattern": "local"}
    same = task(toy_corpus, "src", "tgt")
    resume_checks.check_same_model(checkpoint, trainer(checkpoint, same, True, **local))
    with pytest.raises(UserError, match=r"pair\.pt is of another model: --encoder-attention-pattern was full there"):
        resume_checks.check_same_model(checkpoint, trainer(checkpoint, same, False, **local))
    near = {"residual_topology": "post", "encoder_relative_positions": 4}  # has weights of its own
    with pytest.raises(UserError, match=r"pair\.pt is of another model: --encoder-relative-positions was 0 there"):
        resume_checks.check_same_model(checkpoint, trainer(checkpoint, same, True, **near))
    with pytest.raises(UserError, match=r"pair\.pt is of another model: --residual-topology"):
        resume_checks.check_same_model(checkpoint, trainer(checkpoint, same, True, residual_topology="pre"))


def test_a_training_goes_on_with_its_pair_and_is_finetuned_on_any_but_its_reverse(
    checkpoint: Path, toy_corpus: Path
) -> None:
    other = task(toy_corpus, "src", "tgt")
    for pair, resumed, finetuned in (
        (("src", "tgt"), True, True),
        (("tgt", "src"), False, False),
        (("src", "fr"), False, True),
    ):
        other.cfg.source_lang, other.cfg.target_lang = pair
        for finetuning, fits in ((False, resumed), (True, finetuned)):
            if fits:
                resume_checks.check_same_model(checkpoint, trainer(checkpoint, other, finetuning))
                continue
            with pytest.raises(UserError, match=r"pair\.pt: the checkpoint translates from src to tgt, but asked for"):
                resume_checks.check_same_model(checkpoint, trainer(checkpoint, other, finetuning))


def test_a_multilingual_model_resumes_from_its_own_checkpoint_alone(tmp_path: Path) -> None:
    options = ("--arch", "multilingual_post_ln_tiny", "--task", "multilingual_translation", "--lang-pairs", "a-b")
    path, cfg = tmp_path / "one.pt", configured(*options)
    torch.save({"model": {}, "cfg": OmegaConf.to_container(cfg)}, path)
    resume_checks.check_same_model(path, SimpleNamespace(cfg=cfg, task=None))
    deeper = SimpleNamespace(cfg=configured(*options, "--encoder-layers", 7), task=None)
    with pytest.raises(UserError, match=r"one\.pt is of another model: --encoder-layers was 2 there and is 7 here"):
        resume_checks.check_same_model(path, deeper)
