"""`realformer-nmt archs`: a table of every --arch with its four choices, layers, width and parameters."""

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from msgspec import convert

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.option import option
from realformer_nmt.common.request import Request

HEADERS = ("arch", "topology", "scaling", "source", "carry", "encoder", "decoder", "width", "parameters")
SPECIAL, MOST = 4, 100_000_000  # least and most entries of a dictionary; fairseq adds four special ones


class Architecture(NamedTuple):
    """A row of the table, by the names of fairseq's options."""

    arch: str
    residual_topology: str
    residual_scaling: str
    score_source: str
    score_carry: str
    encoder_layers: int
    decoder_layers: int
    encoder_embed_dim: int
    parameters: int


@dataclass(frozen=True, kw_only=True)
class ArchsRequest(Request):
    """List every --arch for translation: name, the four choices, layers, width, parameters. Each family is a language
    model and a masked one, too: FAMILY_lm_SIZE, FAMILY_bert_SIZE, for long texts FAMILY_etc_SIZE."""

    subcommand: ClassVar[str] = "archs"
    examples: ClassVar[str] = "example: realformer-nmt archs --vocabulary 40000"

    json: bool = option("print a JSON list", False)
    vocabulary: int = option(
        "words of the joined dictionary, to count parameters (default: 32768)", 32768, range=whole(SPECIAL, MOST)
    )

    def run(self) -> int:
        from tabulate import tabulate  # late, as below: --help needs neither

        from realformer_nmt.cli.parameter_count import BASE, parameters
        from realformer_nmt.model.presets import PRESETS

        rows = []
        for arch, preset in PRESETS.items():
            options = {**BASE, **preset, "arch": arch, "parameters": parameters(preset, self.vocabulary)}
            rows.append(convert([options[name] for name in Architecture._fields], Architecture))
        if self.json:
            print(json.dumps([row._asdict() for row in rows], indent=2))
            return 0
        print(tabulate(rows, HEADERS, intfmt=","))
        print(f"\nParameters: with a joined dictionary of {self.vocabulary:,} entries and --share-all-embeddings.")
        return 0


REQUEST = ArchsRequest
