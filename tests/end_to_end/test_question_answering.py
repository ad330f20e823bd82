"""The commands of docs/text_models.md that answer questions, on an invented corpus."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from programs import commands
from programs.processes import said
from programs.program import REPOSITORY, realformer_nmt
from programs.runs import load, load_state
from texts.text_corpora import LETTERS, pieces, write_questions

SECTION = (REPOSITORY / "docs/text_models.md").read_text().partition("\n## Questions about a text\n")[2]
LINES = SECTION.partition("```bash\n")[2].partition("```")[0].replace("\\\n", " ").splitlines()
SMALL = ("--arch", "realformer_bert_tiny", "--cpu", "--num-workers", 0, "--max-positions", 16)
LENGTH = ("--total-num-update", 300, "--max-update", 300)
FAST = (*SMALL, *LENGTH, "--tokens-per-sample", 11, "--stride", 3, "--lr", 3e-3)  # a context of 7 words has two windows
PLAIN = ("--dropout", 0, "--attention-dropout", 0, "--no-epoch-checkpoints")
BRIEF = ("--optimizer", "adam", "--lr", 1e-4, "--max-update", 1, "--batch-size", 8, "--save-dir", "masked")
MASKED = ("--task", "masked_lm", "--criterion", "masked_lm", "--tokens-per-sample", 16, *SMALL, *BRIEF)


@pytest.fixture
def folder(user_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the files that the page's commands read, with a masked model of one update."""
    monkeypatch.chdir(tmp_path)
    write_questions(tmp_path / "train-v1.1.json", 1000, 1)
    write_questions(tmp_path / "dev-v1.1.json", 60, 2)
    (tmp_path / "text").write_text("".join(f"{key} {key}1 {key}2\n" for key in LETTERS))
    texts = ("--trainpref", "text", "--validpref", "text", "--destdir", "data-bin")
    said(commands.fairseq("preprocess", "--user-dir", user_dir, "--only-source", *texts), tmp_path)
    said(commands.fairseq("train", "data-bin", "--user-dir", user_dir, *MASKED), tmp_path)
    return tmp_path


def run(words: list[str], user_dir: Path, folder: Path) -> str:
    program, *rest = words
    if program == "realformer-nmt":
        done = realformer_nmt(*rest, *(["--cpu"] if rest[0] == "answer" else []))
        assert done.returncode == 0, done.stderr
        return done.stdout
    if program == "fairseq-train":
        return said(commands.fairseq("train", rest[0], *rest[1:], "--user-dir", user_dir, *FAST, *PLAIN), folder)
    {"mkdir": lambda path: Path(path).mkdir(), "cp": shutil.copyfile}[program](*rest)
    return ""


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_the_pages_commands_learn_to_answer(user_dir: Path, folder: Path) -> None:
    outputs = [run(shlex.split(line), user_dir, folder) for line in LINES]
    answers, score = read(folder / "answers/dev/answers.json"), read(folder / "answers/dev/score.json")["scores"]
    (article,) = read(folder / "dev-v1.1.json")["data"]
    references = {
        paragraph["qas"][0]["id"]: paragraph["qas"][0]["answers"][0]["text"] for paragraph in article["paragraphs"]
    }
    right = 100 * sum(answers[name] == text for name, text in references.items()) / len(references)
    assert score["exact_match"] == right > 90
    assert right <= score["f1"] <= 100
    assert "exact_match" in outputs[-1]
    weights = load(folder / "answers/checkpoint_best.pt")
    assert weights["span_head.weight"].shape == (2, 64)
    done = realformer_nmt("answer", "masked/checkpoint_best.pt", "--questions", "dev-v1.1.json", "--output", "none")
    assert done.returncode == 1
    assert "is of --task masked_lm, whose models answer nothing: give one of --task question_answering" in done.stderr
    (folder / "squad/sentencepiece.model").write_bytes(pieces())
    options = ("--questions", "dev-v1.1.json", "--output", "none", "--cpu")
    done = realformer_nmt("answer", "answers/checkpoint_best.pt", *options)
    assert done.returncode == 1
    message = "checkpoint_best.pt: the checkpoint's texts were cut by another sentencepiece.model than those of squad"
    assert message in done.stderr
    (folder / "squad/sentencepiece.model").unlink()
    state = load_state(folder / "answers/checkpoint_best.pt")
    state["model"] = {name: weight for name, weight in weights.items() if not name.startswith("span_head.")}
    torch.save(state, "headless.pt")
    done = realformer_nmt("answer", "headless.pt", "--questions", "dev-v1.1.json", "--output", "none", "--cpu")
    assert done.returncode == 1
    assert "headless.pt has no head for spans, and would guess" in done.stderr
