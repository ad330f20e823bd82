"""Corpora of one text, of labels and of questions, and the options of the tasks that learn them."""

import io
import json
from pathlib import Path

import numpy as np
import sentencepiece
from programs.commands import fairseq as command
from programs.processes import said

LETTERS = list("abcdefgh")
LANGUAGE = ("--task", "language_modeling", "--tokens-per-sample", 32, "--sample-break-mode", "eos")
MASKED = ("--task", "masked_lm", "--criterion", "masked_lm", "--tokens-per-sample", 32, "--max-positions", 32)
SENTENCES = ("--task", "sentence_prediction", "--criterion", "sentence_prediction", "--num-classes", 2)
PLACED = ("--max-positions", 32, "--init-token", 0)


def write(folder: Path, user_dir: Path) -> None:
    """Each letter but the first follows from the one before it; a label tells whether there is an a."""
    chance = np.random.default_rng(1)
    for split, number in {"train": 600, "valid": 60}.items():
        begins, lengths = chance.integers(0, 8, number), chance.integers(3, 8, number)
        texts = [[LETTERS[(b + 3 * i) % 8] for i in range(n)] for b, n in zip(begins, lengths, strict=True)]
        (folder / f"{split}.text").write_text("".join(" ".join(words) + "\n" for words in texts))
        (folder / f"{split}.label").write_text("".join(f"{'yes' if 'a' in words else 'no'}\n" for words in texts))
    for name, to in {"text": "input0", "label": "label"}.items():
        texts = ("--trainpref", folder / f"train.{name}", "--validpref", folder / f"valid.{name}")
        said(command("preprocess", "--user-dir", user_dir, "--only-source", *texts, "--destdir", folder / to), folder)
    questions = folder / "questions"
    questions.mkdir()
    (questions / "dict.txt").write_text("".join(f"{letter}{end} 1\n" for letter in LETTERS for end in ("", 1, 2)))
    for seed, (split, number) in enumerate({"train": 600, "valid": 20}.items()):
        write_questions(questions / f"{split}.json", number, seed)


def write_questions(path: Path, number: int, seed: int) -> None:
    """Asked for is what begins with the letter of the question: one word or two, among those of four letters."""
    chance, paragraphs = np.random.default_rng(seed), []
    for place in range(number):
        keys = [LETTERS[key] for key in chance.permutation(8)[:4]]
        facts = [f"{key}1 {key}2" if chance.random() < 0.5 else f"{key}1" for key in keys]
        index, context = int(chance.integers(4)), " ".join(facts)
        answers = [{"text": facts[index], "answer_start": context.index(facts[index])}]
        questions = [{"id": f"{path.stem}-{place}", "question": keys[index], "answers": answers}]
        paragraphs.append({"context": context, "qas": questions})
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": "letters", "paragraphs": paragraphs}]}))


def pieces() -> bytes:
    """A model of sentencepiece's."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LETTERS * 20), model_writer=model, vocab_size=12, hard_vocab_limit=False, minloglevel=2
    )
    return model.getvalue()
