"""Values that train nonsense are refused, and nothing that fairseq or a paper uses is."""

import dataclasses
import sys
from pathlib import Path

import pytest
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import MODEL_DATACLASS_REGISTRY
from fairseq.optim import OPTIMIZER_DATACLASS_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_DATACLASS_REGISTRY
from fairseq.tasks import TASK_DATACLASS_REGISTRY
from fairseq_cli import preprocess
from programs.fairseq_config import configured

from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.options import option_ranges

REGISTRIES = (
    {field.name: field.type for field in dataclasses.fields(FairseqConfig) if dataclasses.is_dataclass(field.type)},
    CRITERION_DATACLASS_REGISTRY,
    OPTIMIZER_DATACLASS_REGISTRY,
    LR_SCHEDULER_DATACLASS_REGISTRY,
    TASK_DATACLASS_REGISTRY,
    MODEL_DATACLASS_REGISTRY,
)
NONSENSE = {  # of each range, what lies beside it
    "dropout": (2, 1.0, -0.1, float("nan"), float("inf")),
    "adam_betas": ("(0.9, 1.0)", "(0.9, -1)"),
    "lr": ([0.1, float("nan")], [-1e-3], [float("inf")]),
    "max_tokens": (0, -5, 2**63),
    "update_freq": ([0], [1, -1]),
    "patience": (-2,),
    "num_workers": (-1, 10**8),
    "workers": (0, 10**8),
    "seed": (-1, 2**32),
    "lenpen": (float("nan"), float("inf")),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_by_name(name: str) -> None:
    for value in NONSENSE[name]:
        with pytest.raises(OptionError, match=f"^--{name.replace('_', '-')}.*: allowed is "):
            option_ranges.check({name: value})


def test_every_default_of_fairseq_is_allowed() -> None:
    """Each option of each part that is registered is tried; an option that is required has no default."""
    tried = 0
    for registry in REGISTRIES:
        for part in registry.values():
            defaults = {field.name: field.default for field in dataclasses.fields(part)}
            options = {name: value for name, value in defaults.items() if value != "???"}
            option_ranges.check(options)
            tried += len(defaults)
    assert tried > 1000


def test_a_training_needs_an_end_and_no_fp16_on_a_cpu() -> None:
    with pytest.raises(OptionError, match="nothing ends this training: pass --max-epoch N or --max-update N"):
        option_ranges.check_training(configured("--cpu"))
    for end in ("--max-epoch", "--max-update", "--stop-time-hours", "--patience"):
        option_ranges.check_training(configured("--cpu", end, 3))
    option_ranges.check_training(configured("--cpu", "--stop-min-lr", 1e-9))
    with pytest.raises(OptionError, match=r"^--fp16 on a CPU: train with --bf16"):
        option_ranges.check_training(configured("--cpu", "--max-update", 3, "--fp16"))
    for flag in ("--bf16", "--memory-efficient-fp16"):
        option_ranges.check_training(configured("--cpu", "--max-update", 3, flag))


@pytest.mark.parametrize("flags", ["--workers 100000", "--thresholdsrc -7"])
def test_preprocessing_is_checked_before_it_makes_a_folder(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*flags.split(), "-s", "en", "-t", "de", "--trainpref", "none", "--destdir", str(tmp_path / "data-bin")]
    monkeypatch.setattr(sys, "argv", ["fairseq-preprocess", *words])
    with pytest.raises(OptionError, match=f"^{flags}: allowed is "):
        preprocess.cli_main()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("task", ["masked_lm", "sentence_prediction"])
def test_a_loss_of_other_targets_is_refused(task: str) -> None:
    cfg = configured("--cpu", "--max-epoch", 3)
    cfg.task._name, cfg.criterion._name = task, "cross_entropy"
    with pytest.raises(OptionError, match=f"--criterion cross_entropy is no loss of --task {task}: pass --criterion"):
        option_ranges.check_training(cfg)
    cfg.criterion._name = task
    option_ranges.check_training(cfg)
    cfg.criterion._name = "of_another_plug_in"
    option_ranges.check_criterion(cfg)


def test_bleu_that_is_not_measured_chooses_no_checkpoint() -> None:
    words = ("--cpu", "--max-epoch", 3, "--best-checkpoint-metric")
    with pytest.raises(OptionError, match=r"^--best-checkpoint-metric bleu: no validation logs it; pass --eval-bleu"):
        option_ranges.check_training(configured(*words, "bleu"))
    with pytest.raises(OptionError, match="no validation logs it"):
        option_ranges.check_metric(configured(*words, "bleu", "--task", "language_modeling"))
    for allowed in (("bleu", "--eval-bleu"), ("bleu", "--disable-validation"), ("ppl",)):
        option_ranges.check_training(configured(*words, *allowed))


def test_a_training_whose_checkpoints_nobody_could_read_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^--task: .* could not be read again: asks for the task 'translation_lev'"):
        option_ranges.check_training(configured("--cpu", "--max-epoch", 3, "--task", "translation_lev"))
