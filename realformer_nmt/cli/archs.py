"""`realformer-nmt archs`: a table of every --arch with its choices, layers, width and parameters."""

import argparse
import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.option import option
from realformer_nmt.common.request import Request

HEADERS = ("arch", "topology", "scaling", "source", "carry", "norm", "encoder", "decoder", "width", "parameters")
SPECIAL, MOST = 4, 100_000_000  # least and most entries of a dictionary; fairseq adds four special ones


class Arch(NamedTuple):
    """Row of the table; the fields are the names of the options."""

    arch: str
    residual_topology: str
    residual_scaling: str
    score_source: str
    score_carry: str
    norm: str
    encoder_layers: int
    decoder_layers: int
    encoder_embed_dim: int
    parameters: int


@dataclass(frozen=True, kw_only=True)
class ArchsRequest(Request):
    """List every --arch for translation: name, choices, layers, width, parameters. Each family is a language
    model and a masked one, too: FAMILY_lm_SIZE, FAMILY_bert_SIZE, for long texts FAMILY_etc_SIZE."""

    subcommand: ClassVar[str] = "archs"
    examples: ClassVar[str] = "example: realformer-nmt archs --vocabulary 40000"

    json: bool = option("print a JSON list", False)
    vocabulary: int = option(
        "words of the joined dictionary, to count parameters (default: 32768)", 32768, range=whole(SPECIAL, MOST)
    )

    def run(self) -> int:
        from tabulate import tabulate  # late, as below: --help needs neither

        from realformer_nmt.model.presets import PRESETS

        rows = [describe(arch, self.vocabulary) for arch in PRESETS]
        if self.json:
            print(json.dumps([row._asdict() for row in rows], indent=2))
            return 0
        print(tabulate(rows, headers=HEADERS, intfmt=","))
        print(f"\nParameters: with a joined dictionary of {self.vocabulary:,} entries and --share-all-embeddings.")
        return 0


REQUEST = ArchsRequest


def describe(arch: str, vocabulary: int) -> Arch:
    from realformer_nmt.model.config import TranslationConfig
    from realformer_nmt.model.meta_model import parameters
    from realformer_nmt.model.presets import PRESETS

    options = vars(TranslationConfig()) | PRESETS[arch] | {"share_all_embeddings": True}
    number = parameters(argparse.Namespace(**options), vocabulary, vocabulary)
    return Arch._make([arch, *(options[name] for name in Arch._fields[1:-1]), number])
