"""fairseq-train's options on RealFormer: what is to change nothing, and what is to change one thing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu
import torch
from fixture_types import Once
from programs.processes import run_all
from programs.reports import losses, parse, validation
from programs.runs import Compose, Trained, load, load_state

STILL = ("--lr", 0, "--warmup-updates", 0, "--max-update", 1)
TINY = ("--arch", "realformer_tiny", "--share-all-embeddings")
SHORT = (*TINY, "--max-update", 12, "--log-interval", 1, "--disable-validation")
RUNS: dict[str, tuple[object, ...]] = {
    "plain": (*SHORT, "--dropout", 0.1),
    "checkpoint_activations": (*SHORT, "--dropout", 0.1, "--checkpoint-activations"),
    "bf16": (*SHORT, "--dropout", 0.1, "--bf16", "--save-interval-updates", 6),
    "memory_efficient_bf16": (*SHORT, "--dropout", 0.1, "--memory-efficient-bf16"),
    "update_freq": (*SHORT, "--dropout", 0.1, "--update-freq", 2),
    "activation_dropout": (*SHORT, "--activation-dropout", 0.3),
    "attention_dropout": (*SHORT, "--attention-dropout", 0.3),
}


@pytest.fixture(scope="module")
def folder(once: Once, train: Compose) -> Path:
    def build(folder: Path) -> None:
        jobs = {name: train(folder / name, *options, "--no-epoch-checkpoints") for name, options in RUNS.items()}
        half_way = ("--restore-file", folder / "bf16" / "checkpoint_1_6.pt")
        jobs["bf16_resumed"] = train(folder / "bf16_resumed", *RUNS["bf16"], *half_way)
        (folder / "logs.json").write_text(json.dumps(run_all(jobs, folder)))

    return once("training_options", build)


@pytest.fixture(scope="module")
def logs(folder: Path) -> dict[str, str]:
    outputs: dict[str, str] = json.loads((folder / "logs.json").read_text())
    return outputs


def profile(run: Path) -> list[float]:
    return [float(weight) for name, weight in load(run / "checkpoint_last.pt").items() if name.endswith("shortcut.w0")]


def test_same_training(logs: dict[str, str]) -> None:
    assert len(losses(logs["plain"])) == 12
    assert losses(logs["plain"]) == losses(logs["checkpoint_activations"])


def test_a_resumed_run_is_the_same_to_the_bit(logs: dict[str, str], folder: Path) -> None:
    assert losses(logs["bf16_resumed"]) == losses(logs["bf16"])[6:]
    whole, resumed = (load_state(folder / name / "checkpoint_last.pt") for name in ("bf16", "bf16_resumed"))
    for part in ("model", "last_optimizer_state"):
        torch.testing.assert_close(resumed[part], whole[part], rtol=0, atol=0)


def test_kinds_of_dropout(logs: dict[str, str]) -> None:
    runs = [tuple(losses(logs[name])) for name in ("plain", "activation_dropout", "attention_dropout")]
    assert len(set(runs)) == 3


@pytest.mark.parametrize(("precision", "tolerance"), [("bf16", 0.03), ("memory_efficient_bf16", 0.15)])
def test_bf16_trains_as_fp32_does_within_its_rounding(precision: str, tolerance: float, logs: dict[str, str]) -> None:
    """The last keeps no fp32 weights and loses the smallest updates."""
    assert losses(logs[precision]) == pytest.approx(losses(logs["plain"]), rel=tolerance)
    assert losses(logs[precision]) != losses(logs["plain"])


@pytest.mark.parametrize("option", ["checkpoint_activations", "update_freq"])
def test_profile_is_that_of_the_plain_run(option: str, logs: dict[str, str], folder: Path) -> None:
    assert logs[option].count("ADMIN profile of the first batch, encoder") == 1
    assert len(profile(folder / option)) == 3 + 5  # the first sub-layer of either stack has none
    assert profile(folder / option) == profile(folder / "plain")
    assert all(w0 > 1 for w0 in profile(folder / option))


@pytest.mark.parametrize("precision", ["bf16", "memory_efficient_bf16"])
def test_profile_in_bf16(precision: str, logs: dict[str, str], folder: Path) -> None:
    assert logs[precision].count("ADMIN profile of the first batch, encoder") == 1
    assert profile(folder / precision) == pytest.approx(profile(folder / "plain"), rel=2**-7)


def test_bleu_during_training_is_sacrebleu_of_all_that_generate_writes(
    trained: Callable[[str], Trained], train: Compose, generate: Compose, text: Path, tmp_path: Path
) -> None:
    half_trained = next((trained("realformer").folder / "checkpoints").glob("checkpoint_*_120.pt"))
    evaluation = ("--eval-bleu", "--eval-bleu-detok", "space", "--eval-bleu-args", '{"beam": 5}')
    choice = ("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric")
    still = (*TINY, "--no-scale-embedding", "--finetune-from-model", half_trained, *STILL)
    jobs = {
        "train": train(tmp_path, *still, *evaluation, *choice),
        "generate": generate(half_trained, "--gen-subset", "valid"),
    }
    outputs = run_all(jobs, tmp_path)
    hypotheses = parse(outputs["generate"]).best
    bleu = sacrebleu.corpus_bleu(hypotheses, [(text / "valid.tgt").read_text().splitlines()]).score
    assert validation(outputs["train"], "bleu") == pytest.approx([bleu], abs=0.01)
    best = load_state(tmp_path / "checkpoint_best.pt")["extra_state"]["best"]
    assert best == pytest.approx(bleu, abs=0.01)
