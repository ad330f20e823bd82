"""Checkpoints of fairseq's own transformer become post_ln and pre_ln and come back, with the same loss and output."""

from pathlib import Path

import pytest
from programs.processes import run_all
from programs.reports import parse, validation
from programs.runs import Compose

SHAPE = [
    f"--{side}-{name}={value}"
    for side in ("encoder", "decoder")
    for name, value in {"layers": 2, "embed-dim": 64, "ffn-embed-dim": 128, "attention-heads": 4}.items()
]
NORMALISE_BEFORE = ("--encoder-normalize-before", "--decoder-normalize-before")
# options of both, of ours, of fairseq's own
CASES: dict[str, tuple[tuple[str, ...], ...]] = {
    "shared": (
        ("--share-all-embeddings", "--activation-fn", "gelu", "--layernorm-embedding", "--no-scale-embedding"),
        ("--arch", "post_ln_tiny"),
        ("--arch", "transformer", *SHAPE),
    ),
    "learned": (
        ("--share-decoder-input-output-embed", "--encoder-learned-pos", "--decoder-learned-pos"),
        ("--arch", "pre_ln_tiny"),
        ("--arch", "transformer", *SHAPE, *NORMALISE_BEFORE),
    ),
    "apart": (
        ("--no-token-positional-embeddings", "--checkpoint-activations"),
        ("--arch", "post_ln_tiny"),
        ("--arch", "transformer", *SHAPE),
    ),
}


@pytest.mark.parametrize(
    "case", ["shared", *(pytest.param(case, marks=pytest.mark.product) for case in ("learned", "apart"))]
)
def test_there_and_back(case: str, train: Compose, generate: Compose, tmp_path: Path) -> None:
    common, package, stock = CASES[case]
    last = {name: tmp_path / name / "checkpoint_last.pt" for name in ("stock", "ours", "trained", "returned")}
    still = ("--lr", 0, "--warmup-updates", 0, "--max-update", 1)
    jobs = {
        "stock": train(tmp_path / "stock", *stock, *common, "--max-update", 30),
        "ours": train(tmp_path / "ours", *package, *common, *still, "--finetune-from-model", last["stock"]),
        "trained": train(tmp_path / "trained", *package, *common, "--max-update", 30, "--restore-file", last["stock"]),
        "returned": train(tmp_path / "returned", *stock, *common, *still, "--finetune-from-model", last["trained"]),
    }
    jobs["trained"] += ["--reset-optimizer", "--reset-dataloader", "--reset-meters", "--reset-lr-scheduler"]
    outputs = run_all(jobs | {f"{name}_out": generate(path, "--max-len-b", 8) for name, path in last.items()}, tmp_path)

    losses = {name: validation(outputs[name])[-1] for name in last}
    assert losses["ours"] == pytest.approx(losses["stock"], abs=2e-3)  # printed with three digits
    assert losses["returned"] == pytest.approx(losses["trained"], abs=2e-3)
    assert losses["trained"] < losses["stock"]
    for one, other in [("stock", "ours"), ("trained", "returned")]:
        expected, actual = (parse(outputs[f"{name}_out"]).hypotheses for name in (one, other))
        assert {number: best[0].text for number, best in actual.items()} == {
            number: best[0].text for number, best in expected.items()
        }
        for number, best in actual.items():
            assert best[0].score == pytest.approx(expected[number][0].score, abs=1e-5)
