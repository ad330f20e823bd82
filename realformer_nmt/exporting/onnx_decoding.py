"""Translates lines with the graphs beside it, by onnxruntime and without torch: python translate.py < source.txt

It takes text as it is; where the model's training text was normalised, normalise yours. Without sentencepiece.model
in the folder it reads and writes the pieces that the model does.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime


class Model:
    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.encoder, self.step = (
            onnxruntime.InferenceSession(folder / f"{name}.onnx") for name in ("encoder", "step")
        )
        self.numbers = {word: number for number, word in enumerate(self.config["source_words"])}

    def translate(self, pieces: list[str], beam: int = 5, penalty: float = 1.0, longest: int = 200) -> list[str]:
        numbers = [self.numbers.get(piece, self.config["unk"]) for piece in pieces]
        best = self.search([*numbers, self.config["eos"]], beam, penalty, longest)[0][1]
        return [self.config["target_words"][number] for number in best]

    def search(self, source: list[int], beam: int, penalty: float, longest: int) -> list[tuple[float, list[int]]]:
        """Score and tokens of each hypothesis, the best first: the log of its probability by its length ** penalty."""
        pad, eos = self.config["pad"], self.config["eos"]
        fixed = self.encoder.run(None, {"tokens": np.array([source])})
        given = {out.name: value.repeat(beam, 0) for out, value in zip(self.encoder.get_outputs(), fixed, strict=True)}
        own = {each.name: each.shape for each in self.step.get_inputs() if each.name.startswith("own_")}
        state = {name: np.zeros((beam, shape[1], 0, shape[3]), np.float32) for name, shape in own.items()}
        written, totals = np.full((beam, 1), eos), np.array([0.0] + [-np.inf] * (beam - 1))
        found: list[tuple[float, list[int]]] = []
        for length in range(1, min(longest, self.config["longest_target"] - 1) + 2):
            scores, *grown = self.step.run(None, {"token": written[:, -1:], **given, **state})
            scores[:, pad] = -np.inf
            if length == 1:
                scores[:, eos] = -np.inf
            if length == min(longest, self.config["longest_target"] - 1) + 1:  # the last: all end
                scores[:, np.arange(scores.shape[1]) != eos] = -np.inf
            sums = totals[:, None] + scores
            order = np.argsort(-sums, axis=None, kind="stable")[: 2 * beam]
            rows, words = np.unravel_index(order, sums.shape)
            for row, word in zip(rows[:beam], words[:beam], strict=True):
                if word == eos and sums[row, word] > -np.inf and len(found) < beam:
                    found.append((float(sums[row, word]) / length**penalty, written[row, 1:].tolist()))
            if len(found) >= beam:
                break
            kept = (words != eos).nonzero()[0][:beam]
            if len(kept) < beam:
                break
            totals = sums[rows[kept], words[kept]]
            written = np.concatenate([written[rows[kept]], words[kept, None]], 1)
            state = {name: value[rows[kept]] for name, value in zip(state, grown, strict=True)}
        return sorted(found, key=lambda pair: -pair[0])


def main(folder: Path) -> None:
    model, subwords = Model(folder), None
    if (folder / "sentencepiece.model").exists():
        import sentencepiece

        subwords = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    for line in sys.stdin:
        pieces = subwords.encode(line.strip(), out_type=str) if subwords else line.split()
        found = model.translate(pieces) if pieces else []
        print(subwords.decode(found) if subwords else " ".join(found), flush=True)


if __name__ == "__main__":
    main(Path(__file__).parent)
