"""fairseq-train's options on RealFormer: what is to change nothing, and what is to change one thing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu
from fixture_types import Once
from programs.processes import run_all
from programs.reports import losses, parse, validation
from programs.runs import Compose, Trained, load_state

STILL = ("--lr", 0, "--warmup-updates", 0, "--max-update", 1)
TINY = ("--arch", "realformer_tiny", "--share-all-embeddings")
SHORT = (*TINY, "--max-update", 12, "--log-interval", 1, "--disable-validation")
RUNS: dict[str, tuple[object, ...]] = {
    "plain": (*SHORT, "--dropout", 0.1),
    "bf16": (*SHORT, "--dropout", 0.1, "--bf16"),
    "memory_efficient_bf16": (*SHORT, "--dropout", 0.1, "--memory-efficient-bf16"),
}


@pytest.fixture(scope="module")
def folder(once: Once, train: Compose) -> Path:
    def build(folder: Path) -> None:
        jobs = {name: train(folder / name, *options, "--no-epoch-checkpoints") for name, options in RUNS.items()}
        (folder / "logs.json").write_text(json.dumps(run_all(jobs, folder)))

    return once("training_options", build)


@pytest.fixture(scope="module")
def logs(folder: Path) -> dict[str, str]:
    outputs: dict[str, str] = json.loads((folder / "logs.json").read_text())
    return outputs


@pytest.mark.parametrize(("precision", "tolerance"), [("bf16", 0.03), ("memory_efficient_bf16", 0.15)])
def test_bf16_trains_as_fp32_does_within_its_rounding(precision: str, tolerance: float, logs: dict[str, str]) -> None:
    """The last keeps no fp32 weights and loses the smallest updates."""
    assert losses(logs[precision]) == pytest.approx(losses(logs["plain"]), rel=tolerance)
    assert len(losses(logs["plain"])) == 12
    assert losses(logs[precision]) != losses(logs["plain"])


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
