"""`realformer-nmt archs`: every --arch with its four choices, layers, width and parameters."""

import argparse
import json
from typing import Any

from realformer_nmt.common.numbers import whole

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


SPECIAL, MOST = 4, 100_000_000  # entries of a dictionary, of which fairseq's own are four


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Lists every --arch for translation: name, the four choices, layers, width, parameters. Each family is a "
        "language model and a masked one, too: FAMILY_lm_SIZE, FAMILY_bert_SIZE, for long texts FAMILY_etc_SIZE."
    )
    parser.epilog = "example: realformer-nmt archs --vocabulary 40000"
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.add_argument(
        "--vocabulary",
        type=whole(SPECIAL, MOST),
        default=32768,
        help="words of the joined dictionary, to count parameters (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from tabulate import tabulate  # here, and so below: --help needs neither

    from realformer_nmt.model.presets import PRESETS

    rows = [describe(arch, args.vocabulary) for arch in PRESETS]
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(tabulate([[row[name] for name in COLUMNS] for row in rows], headers=[*COLUMNS.values()], intfmt=","))
    print(f"\nParameters: with a joined dictionary of {args.vocabulary:,} entries and --share-all-embeddings.")
    return 0


def describe(arch: str, vocabulary: int) -> dict[str, Any]:
    from realformer_nmt.model.config import TranslationConfig
    from realformer_nmt.model.presets import PRESETS
    from realformer_nmt.model.skeleton import parameters

    options = vars(TranslationConfig()) | PRESETS[arch] | {"share_all_embeddings": True}
    shown = {name: options[name] for name in COLUMNS if name in options}
    return {"arch": arch, **shown, "parameters": parameters(argparse.Namespace(**options), vocabulary, vocabulary)}
