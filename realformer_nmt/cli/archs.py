"""`realformer-nmt archs`: a table of every --arch with its four choices, layers, width and parameters."""

import argparse
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.option import option
from realformer_nmt.common.request import Request

COLUMNS = {
    "arch": "arch",
    "residual_topology": "topology",
    "residual_scaling": "scaling",
    "score_source": "source",
    "score_carry": "carry",
    "encoder_layers": "encoder",
    "decoder_layers": "decoder",
    "encoder_embed_dim": "width",
    "parameters": "parameters",
}


SPECIAL, MOST = 4, 100_000_000  # least and most entries of a dictionary; fairseq adds four special ones


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

        from realformer_nmt.model.presets import PRESETS

        rows = [describe(arch, self.vocabulary) for arch in PRESETS]
        if self.json:
            print(json.dumps(rows, indent=2))
            return 0
        print(tabulate([[row[name] for name in COLUMNS] for row in rows], headers=[*COLUMNS.values()], intfmt=","))
        print(f"\nParameters: with a joined dictionary of {self.vocabulary:,} entries and --share-all-embeddings.")
        return 0


REQUEST = ArchsRequest


def describe(arch: str, vocabulary: int) -> dict[str, Any]:
    from realformer_nmt.model.config import TranslationConfig
    from realformer_nmt.model.meta_model import parameters
    from realformer_nmt.model.presets import PRESETS

    options = vars(TranslationConfig()) | PRESETS[arch] | {"share_all_embeddings": True}
    columns = {name: options[name] for name in COLUMNS if name in options}
    number = parameters(argparse.Namespace(**options), vocabulary, vocabulary)
    return {"arch": arch, **columns, "parameters": number}
