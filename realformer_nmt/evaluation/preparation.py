"""How a corpus was prepared, as far as translating and scoring depend on it."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from realformer_nmt.corpora.cleaning import Steps, cleaned
from realformer_nmt.corpora.subwords import METHODS, encoder
from realformer_nmt.errors import UserError
from realformer_nmt.evaluation import databin
from realformer_nmt.evaluation.surface import SURFACES, Surface

HYPHENS = ("aggressive", "plain")  # Moses' tokeniser with -a, and without


@dataclass(frozen=True)
class Preparation:
    data: Path  # the data-bin
    source: str
    target: str
    subwords: str  # of SURFACES
    folder: Path | None  # of the subwords' model
    steps: Steps  # that raw source text goes through before its subwords
    hyphens: str | None  # of HYPHENS, for tokenised text

    def pieces(self, raw: bytes) -> list[str]:
        """Raw source text, whose lines end with line feeds, as a model of this corpus reads it."""
        lines = cleaned(raw, self.steps)
        if self.subwords == "none":
            return lines
        if self.folder is None:
            raise UserError(f"{self.subwords} needs the folder of its model: pass --subwords-folder")
        return encoder(self.subwords, self.folder)(lines)

    def surface(self, pieces: list[str]) -> Surface:
        return SURFACES[self.subwords](pieces, self.folder, self.target)

    def describe(self) -> dict[str, Any]:
        folder = self.folder and str(self.folder.resolve())
        return {"subwords": self.subwords, "subwords_folder": folder, "hyphens": self.hyphens}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the corpus")
    group.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="data-bin of the trained model")
    group.add_argument("--subwords", choices=SURFACES, required=True, help="what the data-bin's tokens are")
    group.add_argument("--subwords-folder", type=Path, metavar="FOLDER", help="where the subwords' model lies")
    group.add_argument("--hyphens", choices=HYPHENS, help="moses_bpe: how Moses' tokeniser treated hyphens")


def given(args: argparse.Namespace) -> Preparation:
    source, target = databin.languages(args.data)
    tokenised = args.subwords in METHODS and METHODS[args.subwords].tokenised
    if tokenised and args.hyphens is None:
        raise UserError(f"--subwords {args.subwords} is tokenised text: say how, with --hyphens aggressive or plain")
    if not tokenised and args.hyphens is not None:
        raise UserError(f"--subwords {args.subwords} is not tokenised by Moses: leave --hyphens out")
    steps = Steps(source, tokenise=args.hyphens)
    return Preparation(args.data, source, target, args.subwords, args.subwords_folder, steps, args.hyphens)
