"""`realformer-nmt archs`: a table of the families by idea, or of every --arch with its sizes and parameters."""

import argparse
import json
from dataclasses import dataclass
from typing import ClassVar

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA, PRESETS, SIZES, in_every_size
from realformer_nmt.subcommands import register

COLUMNS = {  # headings of the table by the keys of --json, most of them names of options
    "arch": "arch",
    "idea": "idea",  # what sets the family apart; "" of a family from a --user-dir
    "residual_topology": "topology",
    "residual_scaling": "scaling",
    "score_source": "source",
    "score_carry": "carry",
    "norm": "norm",
    "heads": "heads",
    "encoder_layers": "encoder",
    "decoder_layers": "decoder",
    "encoder_embed_dim": "width",
    "parameters": "parameters",
}
OF_FAMILY = [*COLUMNS][:8]
# Values of the options, for what a family or a size does not say
DEFAULTS = {**SIZES["wmt_en_de"], "norm": "layer", "heads": "plain"}
IDEAS = {family: idea for idea, families in FAMILIES_BY_IDEA.items() for family in families}
SPECIAL, MOST = 4, 100_000_000  # least and most entries of a dictionary; fairseq adds four special ones


@dataclass(frozen=True, kw_only=True)
class ArchsRequest(Request):
    """List the families, by what sets them apart; with --vocabulary or --json every --arch for translation, with layers
    and width. Each is a language model and a masked one, too: FAMILY_lm_SIZE, FAMILY_bert_SIZE, FAMILY_etc_SIZE."""

    subcommand: ClassVar[str] = "archs"
    examples: ClassVar[str] = "example: realformer-nmt archs --vocabulary 40000"

    json: bool = option("print a JSON list", False)
    vocabulary: int | None = option(
        "count parameters, with a joined dictionary of N words; builds every model, which takes seconds",
        None,
        metavar="N",
        range=whole(SPECIAL, MOST),
    )

    def run(self) -> int:
        from tabulate import tabulate  # late, as --help does without

        if self.vocabulary:
            register(self.subcommand)
        every_size = self.json or self.vocabulary
        rows = [
            describe(arch, IDEAS.get(family, ""), self.vocabulary)
            for family, options in FAMILIES.items()
            for arch in (in_every_size({family: options}) if every_size else [family])
        ]
        if self.json:
            print(json.dumps(rows, indent=2))
            return 0
        if self.vocabulary:
            print(tabulate(rows, headers=COLUMNS, intfmt=","))
            print(f"\nParameters: with a joined dictionary of {self.vocabulary:,} entries and --share-all-embeddings.")
        else:
            headings = ["family", *(COLUMNS[name] for name in OF_FAMILY[1:])]
            print(tabulate([[row[name] for name in OF_FAMILY] for row in rows], headers=headings))
            print(f"\nAn --arch of fairseq's is FAMILY_SIZE; sizes: {', '.join(SIZES)}.")
        return 0


REQUEST = ArchsRequest


def describe(arch: str, idea: str, vocabulary: int | None) -> dict[str, object]:
    """Return a row of the table; without a vocabulary its parameters are not counted."""
    number = vocabulary and count_parameters(arch, vocabulary)
    values = {**DEFAULTS, **PRESETS[arch], "arch": arch, "idea": idea, "parameters": number}
    return {name: values[name] for name in COLUMNS}


def count_parameters(arch: str, vocabulary: int) -> int:
    from realformer_nmt.model.config import TranslationConfig  # late, as these import torch
    from realformer_nmt.model.models.meta_model import parameters

    options = vars(TranslationConfig()) | PRESETS[arch] | {"share_all_embeddings": True}
    return parameters(argparse.Namespace(**options), vocabulary, vocabulary)
