"""pieces.py TEXT PIECES VOCABULARY: trains sentencepiece on TEXT/train.txt and cuts every split with it."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import sentencepiece

from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.stages.provenance import differences, made_from

LINES = 1_000_000  # to learn from


def sample(path: Path) -> Iterator[str]:
    """Yield every n-th line, with the smallest n that gives at most LINES: sentencepiece draws others each time."""
    with path.open("rb") as lines:
        step = -(-sum(1 for _ in lines) // LINES)
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from (line.rstrip("\n") for line in itertools.islice(lines, 0, None, max(step, 1)))


text, pieces = Path(sys.argv[1]), Path(sys.argv[2])
texts = {split: text / f"{split}.txt" for split in ("train", "valid", "test")}
pieces.mkdir(parents=True, exist_ok=True)
trained, record = pieces / "sentencepiece.model", pieces / "made_from.json"
again = f"remove {pieces} and the data-bin made from it, or name another folder"
before = records.read(record, Origin, again) if trained.exists() and record.exists() else None
now = made_from({"VOCABULARY": int(sys.argv[3])}, {path.name: path for path in texts.values()}, before)
if before and (changes := differences(before, now)):
    sys.exit(f"{pieces} was made with other settings or files: {'; '.join(changes)}; {again}")
if not trained.exists():
    if missing := [str(path) for path in texts.values() if not path.is_file()]:
        sys.exit(f"{', '.join(missing)}: no such file; put the text there")
    records.write(record, now)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sample(texts["train"]),
        model_prefix=str(trained.with_suffix("")),
        vocab_size=int(sys.argv[3]),
        minloglevel=1,
    )
model = sentencepiece.SentencePieceProcessor(model_file=str(trained))
for split, path in texts.items():
    if not (pieces / split).exists():
        part = pieces / f".{split}.part"
        with path.open(encoding="utf-8") as lines, part.open("w", encoding="utf-8") as cut:
            cut.writelines(" ".join(model.encode(line.strip(), out_type=str)) + "\n" for line in lines)
        part.rename(pieces / split)
