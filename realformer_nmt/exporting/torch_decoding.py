"""Translate lines with the graphs beside this file, by torch alone.

Usage: python translate.py < source.txt

The search is greedy. Text is not normalised: if the training text was, normalise yours. Without sentencepiece.model,
lines are subwords.
"""

import json
import sys
from pathlib import Path

import torch


class TorchTranslator:
    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.encoder, self.step = (torch.export.load(folder / name).module() for name in ("encoder.pt2", "step.pt2"))
        self.numbers = {word: number for number, word in enumerate(self.config["source_words"])}

    @torch.inference_mode()
    def translate(self, pieces: list[str], longest: int = 200) -> list[str]:
        pad, eos = self.config["pad"], self.config["eos"]
        numbers = [self.numbers.get(piece, self.config["unk"]) for piece in pieces]
        padding, *source = self.encoder(torch.tensor([[*numbers, eos]]))
        state = [torch.zeros(shape) for shape in self.config["state"]]
        token, written = torch.tensor([[eos]]), []
        for length in range(min(longest, self.config["longest_target"] - 1)):
            scores, *state = self.step(token, padding, *state, *source)
            scores[:, [pad, pad if length else eos]] = -torch.inf
            token = scores.argmax(1, keepdim=True)
            if token.item() == eos:
                break
            written.append(token.item())
        return [self.config["target_words"][number] for number in written if number != self.config["bos"]]


if __name__ == "__main__":
    model, file, subwords = (
        TorchTranslator(Path(__file__).parent),
        Path(__file__).with_name("sentencepiece.model"),
        None,
    )
    if file.exists():
        from sentencepiece import SentencePieceProcessor

        subwords = SentencePieceProcessor(model_file=str(file))
    for number, line in enumerate(sys.stdin.buffer, 1):  # lines end at \n alone
        if line.decode(errors="ignore").encode() != line:
            sys.exit(f"standard input, line {number}: not UTF-8; convert the text, for instance with iconv")
        text = " ".join(line.decode("utf-8-sig" if number == 1 else "utf-8").split())  # the first may have a mark
        pieces = subwords.encode(text, out_type=str) if subwords else text.split()
        if len(pieces) > (limit := model.config["longest_source"] - 1):
            sys.exit(f"a line of {len(pieces)} subwords is longer than the model's {limit}: split it into sentences")
        translation = model.translate(pieces) if pieces else []
        print(subwords.decode(translation).replace("\n", " ") if subwords else " ".join(translation), flush=True)
