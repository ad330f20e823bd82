"""pieces.py TEXT PIECES VOCABULARY: trains sentencepiece on TEXT/train.txt and cuts every split with it."""

import sys
from pathlib import Path

import sentencepiece

LINES = 10_000_000  # to learn from, drawn by chance

text, pieces = Path(sys.argv[1]), Path(sys.argv[2])
pieces.mkdir(parents=True, exist_ok=True)
if not (pieces / "sentencepiece.model").exists():
    sentencepiece.SentencePieceTrainer.train(
        input=str(text / "train.txt"),
        model_prefix=str(pieces / "sentencepiece"),
        vocab_size=int(sys.argv[3]),
        input_sentence_size=LINES,
        shuffle_input_sentence=True,
        minloglevel=1,
    )
model = sentencepiece.SentencePieceProcessor(model_file=str(pieces / "sentencepiece.model"))
for split in ("train", "valid", "test"):
    if not (pieces / split).exists():
        part = pieces / f".{split}.part"
        with (text / f"{split}.txt").open(encoding="utf-8") as lines, part.open("w", encoding="utf-8") as cut:
            cut.writelines(" ".join(model.encode(line.strip(), out_type=str)) + "\n" for line in lines)
        part.rename(pieces / split)
