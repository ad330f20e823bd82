"""Language, masked and finetuned models train as translation models do: killed, resumed, in bf16, on two ranks."""

from pathlib import Path

import pytest
import torch
from programs.commands import TORCHRUN, kill_after
from programs.commands import fairseq as command
from programs.processes import said
from programs.runs import at_update, load, load_state
from texts.text_corpora import LANGUAGE, MASKED

SAVED, KILLED, LAST = 2, 3, 5
UPDATES = 9  # over the end of an epoch, whose last update has a batch for one rank alone
COMMON = (
    *("--cpu", "--num-workers", 0, "--optimizer", "adam", "--lr", 1e-2, "--update-epoch-batch-itr", 1, "--seed", 1),
    *("--log-format", "json", "--log-interval", 1, "--disable-validation", "--no-epoch-checkpoints"),
)
QUESTIONS = ("--task", "question_answering", "--criterion", "question_answering", "--tokens-per-sample", 11)
SIZES = ("--max-positions", 16, "--batch-size", 40)
NEAR = ("--encoder-window", 4, "--encoder-global-tokens", 1, "--encoder-relative-positions", 3)
TASKS: dict[str, tuple[str, tuple[object, ...]]] = {  # 15 batches each
    "language_modeling": ("input0", ("--arch", "realformer_lm_tiny", *LANGUAGE, "--batch-size", 40)),
    "masked_lm": ("input0", ("--arch", "realformer_etc_tiny", *NEAR, *MASKED, "--batch-size", 8)),
    "question_answering": ("questions", ("--arch", "realformer_bert_tiny", *QUESTIONS, *SIZES)),
}
HEADS = {"question_answering": ("--find-unused-parameters",)}  # as docs/text_models.md says


def words(corpus: Path, user_dir: Path, task: str, to: Path, *options: object) -> list[str]:
    data, task_options = TASKS[task]
    return command("train", corpus / data, *COMMON, *task_options, "--user-dir", user_dir, "--save-dir", to, *options)


@pytest.mark.parametrize(
    "task", ["masked_lm", "question_answering", pytest.param("language_modeling", marks=pytest.mark.product)]
)
def test_killed_and_resumed_in_bf16(task: str, text_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    options = ("--bf16", "--save-interval-updates", SAVED, "--max-update", LAST)
    whole, killed = (words(text_corpus, user_dir, task, tmp_path / name, *options) for name in ("whole", "killed"))
    said(whole, tmp_path)
    kill_after(killed, tmp_path, lambda line: f'"num_updates": "{KILLED}"' in line)
    assert f"@ {SAVED} updates" in said(killed, tmp_path)
    states = [load_state(tmp_path / name / "checkpoint_last.pt") for name in ("whole", "killed")]
    for part in ("model", "last_optimizer_state"):
        torch.testing.assert_close(states[1][part], states[0][part], rtol=0, atol=0)
    assert {weight.dtype for weight in states[0]["model"].values()} <= {torch.bfloat16, torch.float32}
    begun = load(at_update(tmp_path / "whole", SAVED))
    assert any(not torch.equal(weight, begun[name]) for name, weight in states[0]["model"].items())


@pytest.mark.parametrize(
    "task", ["question_answering", *(pytest.param(task, marks=pytest.mark.product) for task in list(TASKS)[:2])]
)
def test_two_ranks_end_where_one_does(task: str, text_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    options = ("--dropout", 0, "--attention-dropout", 0, "--max-update", UPDATES)
    said(words(text_corpus, user_dir, task, tmp_path / "one", *options, "--update-freq", 2), tmp_path)
    ranks = (*options, "--distributed-world-size", 2, *HEADS.get(task, ()))
    two = words(text_corpus, user_dir, task, tmp_path / "two", *ranks)
    said([*TORCHRUN, "--standalone", "--nproc-per-node", "2", *two], tmp_path)
    one, other = (load(tmp_path / name / "checkpoint_last.pt") for name in ("one", "two"))
    for name, weight in one.items():
        torch.testing.assert_close(other[name], weight, rtol=0, atol=1e-4, msg=name)
