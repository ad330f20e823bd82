"""Language models and masked ones through fairseq's commands and ours: trained, finetuned, averaged and evaluated."""

import json
import re
from pathlib import Path

import torch
from programs.commands import fairseq as command
from programs.processes import said
from programs.program import realformer_nmt
from programs.runs import at_update, load
from texts.text_corpora import LANGUAGE, MASKED, PLACED, SENTENCES

FAST = ("--cpu", "--num-workers", 0, "--optimizer", "adam", "--lr", 1e-2, "--max-tokens", 400, "--log-format", "simple")


def train(data: Path, user_dir: Path, to: Path, *options: object) -> str:
    return said(command("train", data, "--user-dir", user_dir, *FAST, "--save-dir", to, *options), to.parent)


def perplexity(data: Path, user_dir: Path, checkpoint: Path) -> float:
    words = (data, "--user-dir", user_dir, "--path", checkpoint, "--gen-subset", "valid", "--cpu", "--max-tokens", 400)
    output = said(command("eval-lm", *words, *LANGUAGE[2:]), checkpoint.parent)
    return float(re.findall(r"Perplexity: ([\d.]+)", output)[-1])


def perplexity_of_masks(data: Path, user_dir: Path, checkpoint: Path) -> float:
    options = ("--path", checkpoint, *MASKED[:6], "--cpu", "--max-tokens", 400)
    output = said(command("validate", data, "--user-dir", user_dir, *options), checkpoint.parent)
    return float(re.findall(r"ppl ([\d.]+)", output)[-1])


def evaluated(data: Path, checkpoint: Path) -> dict[str, float]:
    record = checkpoint.with_suffix(".json")
    done = realformer_nmt("evaluate", checkpoint, "--data", data, "--subset", "valid", "--cpu", "--output", record)
    assert done.returncode == 0, done.stderr
    measures: dict[str, float] = json.loads(record.read_text())["measures"]
    return measures


def test_a_language_model_learns_what_can_be_known(text_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    data, arch = text_corpus / "input0", ("--arch", "realformer_lm_tiny", "--save-interval-updates", 15, *LANGUAGE)
    train(data, user_dir, tmp_path / "whole", *arch, "--max-update", 60)
    # To be known are all letters but the first of 8, and the end that one of 5 lengths has: log2(8) + log2(5) bits
    ideal = 2 ** ((3 + 2.33) / 6)  # a sentence of 5 letters and its end, on average
    ppl = perplexity(data, user_dir, tmp_path / "whole" / "checkpoint_last.pt")
    assert ideal - 0.1 < ppl < ideal + 0.5
    assert round(evaluated(data, tmp_path / "whole" / "checkpoint_last.pt")["perplexity"], 2) == ppl
    states = [at_update(tmp_path / "whole", 15), tmp_path / "whole" / "checkpoint_last.pt"]
    assert realformer_nmt("average", *states, "--output", tmp_path / "average.pt").returncode == 0
    mean, *parts = (load(path) for path in (tmp_path / "average.pt", *states))
    for name, weight in mean.items():
        torch.testing.assert_close(weight, sum(part[name] for part in parts) / 2, msg=name)


def test_a_masked_model_is_finetuned_to_tell_sentences_apart(text_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    arch = ("--arch", "realformer_bert_tiny")
    train(text_corpus / "input0", user_dir, tmp_path / "masked", *arch, *MASKED, "--max-update", 60)
    begin = ("--restore-file", tmp_path / "masked" / "checkpoint_last.pt", "--reset-optimizer", "--reset-dataloader")
    tuned, best = tmp_path / "tuned", ("--best-checkpoint-metric", "accuracy", "--maximize-best-checkpoint-metric")
    length = ("--reset-meters", "--max-epoch", 6, "--lr", 1e-3)
    train(text_corpus, user_dir, tuned, *arch, *SENTENCES, *PLACED, *begin, *length, *best)
    options = ("--path", tuned / "checkpoint_best.pt", *SENTENCES, *PLACED, "--cpu", "--max-tokens", 400)
    judged = said(command("validate", text_corpus, "--user-dir", user_dir, *options), tmp_path)
    accuracy = float(re.findall(r"accuracy ([\d.]+)", judged)[-1])
    assert accuracy > 95
    assert round(evaluated(text_corpus, tuned / "checkpoint_best.pt")["accuracy"], 1) == accuracy
    words = perplexity_of_masks(text_corpus / "input0", user_dir, tmp_path / "masked" / "checkpoint_last.pt")
    measures = evaluated(text_corpus / "input0", tmp_path / "masked" / "checkpoint_last.pt")
    assert round(measures["perplexity"], 2) == words
