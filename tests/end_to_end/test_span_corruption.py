"""An encoder-decoder that fills in spans (fairseq's task of T5): it learns, is resumed and finetuned."""

import re
from pathlib import Path

import pytest
import torch
from fixture_types import Once
from programs.commands import fairseq as command
from programs.processes import said
from programs.program import realformer_nmt
from programs.runs import at_update, load

LETTERS = "abcdefgh"
SENTINELS = "".join(f"<extra_{number}> 1\n" for number in range(8))
FAST = ("--cpu", "--num-workers", 0, "--optimizer", "adam", "--lr", 1e-2, "--log-format", "simple")
SPANS = ("--task", "span_masked_lm", "--tokens-per-sample", 32, "--batch-size", 16, "--update-epoch-batch-itr", 1)


@pytest.fixture(scope="module")
def data(once: Once, user_dir: Path) -> Path:
    """Each letter but the first follows from the one before it; the dictionary ends with the names of spans."""

    def write(folder: Path) -> None:
        lines = [" ".join(LETTERS[(n + 3 * i) % 8] for i in range(3 + n % 5)) + "\n" for n in range(600)]
        for split, number in {"train": 600, "valid": 60}.items():
            for side in ("src", "tgt"):
                (folder / f"{split}.{side}").write_text("".join(lines[:number]))
        (folder / "dict").write_text("".join(f"{letter} 1\n" for letter in LETTERS) + SENTINELS)
        words = ("--user-dir", user_dir, "--srcdict", folder / "dict")
        one, both = (("--only-source",), ("--source-lang", "src", "--target-lang", "tgt", "--joined-dictionary"))
        for to, sides, ending in (("text", one, ".src"), ("pairs", both, "")):
            texts = ("--trainpref", folder / f"train{ending}", "--validpref", folder / f"valid{ending}")
            said(command("preprocess", *words, *sides, *texts, "--destdir", folder / to), folder)

    return once("spans", write)


def train(data: Path, user_dir: Path, to: Path, *options: object) -> str:
    fixed = ("--user-dir", user_dir, *FAST, "--save-dir", to, "--share-all-embeddings")
    return said(command("train", data, *fixed, *options), to.parent)


def perplexity(data: Path, user_dir: Path, checkpoint: Path) -> float:
    options = ("--user-dir", user_dir, "--path", checkpoint, *SPANS[:6], "--cpu")
    return float(re.findall(r"ppl ([\d.]+)", said(command("validate", data, *options), checkpoint.parent))[-1])


def test_it_learns_goes_on_bit_for_bit_and_lends_its_weights_to_a_translation(
    data: Path, user_dir: Path, tmp_path: Path
) -> None:
    arch, whole, halves = ("--arch", "realformer_tiny"), tmp_path / "whole", tmp_path / "halves"
    saving = ("--save-interval-updates", 30, "--max-update", 60)
    train(data / "text", user_dir, whole, *SPANS, *arch, *saving)
    halves.mkdir()
    (halves / "checkpoint_last.pt").write_bytes(at_update(whole, 30).read_bytes())
    train(data / "text", user_dir, halves, *SPANS, *arch, *saving)
    last = whole / "checkpoint_last.pt"
    weights, again = load(last), load(halves / "checkpoint_last.pt")
    assert all(torch.equal(weight, again[name]) for name, weight in weights.items())
    ppl = perplexity(data / "text", user_dir, last)
    assert ppl < 4  # of 8 letters, 8 names of spans and the end
    record = tmp_path / "valid.json"
    done = realformer_nmt("evaluate", last, "--data", data / "text", "--subset", "valid", "--cpu", "--output", record)
    assert float(re.findall(r"perplexity +([\d.]+)", done.stdout)[0]) == pytest.approx(ppl, abs=0.006)
    still = ("--lr", 1e-9, "--max-tokens", 400, "--max-update", 1, "--task", "translation")
    train(data / "pairs", user_dir, tmp_path / "tuned", *arch, *still, "--finetune-from-model", last)
    tuned = load(tmp_path / "tuned" / "checkpoint_last.pt")
    for name, weight in weights.items():
        torch.testing.assert_close(tuned[name], weight, atol=1e-6, rtol=0)
