"""Translates lines with the graphs beside it, by onnxruntime and without torch.

Usage: python translate.py < source.txt, whose text is normalised as in training, or is subwords if no model is here.
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession
from sentencepiece import SentencePieceProcessor


class OnnxTranslator:
    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.encoder, self.step = (InferenceSession(folder / name) for name in ("encoder.onnx", "step.onnx"))
        self.numbers = {word: number for number, word in enumerate(self.config["source_words"])}

    def translate(self, pieces: list[str], beam: int = 5, penalty: float = 1.0, longest: int = 200) -> list[str]:
        source = [*(self.numbers.get(piece, self.config["unk"]) for piece in pieces), self.config["eos"]]
        numbers = self.search(source, beam, penalty, longest)[0][1][len(self.config["target_tag"]) :]
        return [self.config["target_words"][number] for number in numbers if number != self.config["bos"]]

    def search(self, source: list[int], beam: int, penalty: float, longest: int) -> list[tuple[float, list[int]]]:
        """Score and tokens of each hypothesis, the best first: the log of its probability by its length ** penalty."""
        eos, last = self.config["eos"], min(longest + 1, self.config["longest_target"])
        fixed = self.encoder.run(None, {"tokens": np.array([source])})
        memory = {out.name: value.repeat(beam, 0) for out, value in zip(self.encoder.get_outputs(), fixed, strict=True)}
        shapes = {each.name: each.shape for each in self.step.get_inputs() if each.name.startswith("own_")}
        state = {name: np.zeros((beam, shape[1], 0, shape[3]), np.float32) for name, shape in shapes.items()}
        written, totals = np.full((beam, 1), eos), np.array([0.0] + [-np.inf] * (beam - 1))
        ended: list[tuple[float, list[int]]] = []
        for length in range(1, last + 1):
            scores, *grown = self.step.run(None, {"token": written[:, -1:], **memory, **state})
            scores[:, [self.config["pad"], *[eos] * (length == 1 < last)]] = -np.inf  # none ends at once
            for word in self.config["target_tag"] if length == 1 < last else [eos] * (length == last):
                scores[:, np.arange(scores.shape[1]) != word] = -np.inf  # all begin with the tag, and end at last
            sums = totals[:, None] + scores
            best = np.sort(np.argpartition(-sums, 2 * beam, axis=None)[: 2 * beam])
            rows, words = np.unravel_index(best[np.argsort(-sums.flat[best], kind="stable")], sums.shape)
            for row in rows[:beam][(words[:beam] == eos) & np.isfinite(sums[rows[:beam], eos])]:
                ended.append((float(sums[row, eos]) / length**penalty, written[row, 1:].tolist()))
            rest = (words != eos).nonzero()[0][:beam]
            if len(ended) >= beam or len(rest) < beam:
                break
            totals = sums[rows[rest], words[rest]]
            written = np.concatenate([written[rows[rest]], words[rest, None]], 1)
            state = {name: value[rows[rest]] for name, value in zip(state, grown, strict=True)}
        return sorted(ended[:beam], key=lambda pair: -pair[0])


if __name__ == "__main__":
    model, folder = OnnxTranslator(Path(__file__).parent), Path(__file__).parent
    models = [SentencePieceProcessor(model_file=str(folder / name)) for name in model.config["subword_models"]]
    for number, line in enumerate(sys.stdin.buffer, 1):  # lines end at \n alone
        if line.decode(errors="ignore").encode() != line:
            sys.exit(f"standard input, line {number}: not UTF-8; convert the text, for instance with iconv")
        text = " ".join(line.decode("utf-8-sig" if number == 1 else "utf-8").split())  # the first may have a mark
        tag = [each for each in model.config["tags"] if text.startswith(each)][:1]  # of the target language
        pieces = tag + models[0].encode(text.removeprefix("".join(tag)), out_type=str) if models else text.split()
        pieces = model.config["source_tag"] + pieces if pieces else []
        if len(pieces) > (limit := model.config["longest_source"] - 1):
            sys.exit(f"a line of {len(pieces)} subwords is longer than the model's {limit}: split it into sentences")
        words = model.translate(pieces) if pieces else []
        print(models[1].decode(words).translate({10: 32, 9601: 32}).strip() if models else " ".join(words), flush=True)
