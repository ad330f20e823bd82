"""Measure what the papers predict: docs/results/claims.json, and the tables of docs/results/claims.md.

    python docs/results/scripts/claims.py ANALYSIS.JSON...

It measures models before training, which takes minutes, and takes trained ones from records of `realformer-nmt
analyse`. With `--depths` and no number it takes the trained ones alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import page_tables
import untrained_models
from msgspec import Struct, to_builtins
from untrained_models import UntrainedModel

from realformer_nmt.analysis.analysis_record import AnalysisRecord
from realformer_nmt.analysis.claims import CLAIMS, TrainedModel, summary
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.versions import versions

WRITER = "`realformer-nmt analyse` writes it"
NEEDED = 0.02  # bits per word: a layer is needed if the loss grows by more without it


class ClaimsRecord(Struct, frozen=True, kw_only=True):
    """Content of docs/results/claims.json: the measurements that claims are checked by."""

    start: list[UntrainedModel] = []
    trained: list[TrainedModel] = []
    made_from: dict[str, object] = {}


def table(record: ClaimsRecord) -> str:
    """Return the claims as a Markdown table, without those for which nothing was measured."""
    lines = ["| paper | predicted | measured | agrees |", "|---|---|---|---|"]
    checked = [(claim, claim.check(record.start)) for claim in untrained_models.CLAIMS]
    checked += [(claim, claim.check(record.trained)) for claim in CLAIMS]
    for claim, results in checked:
        for result in results:
            agrees = "yes" if result.agrees else "**no**"
            lines.append(f"| {claim.paper} | {claim.predicted} | {result.measured} | {agrees} |")
    return "".join(f"{line}\n" for line in lines)


def needed(record: ClaimsRecord) -> str:
    """Return a Markdown table of how many layers each trained model needs; without one its loss grows by NEEDED."""
    lines = ["| layers | family | of the encoder | of the decoder |", "|---|---|---|---|"]
    for model in record.trained:
        counts = [sum(loss > NEEDED for loss in model.left_out[side]) for side in ("encoder", "decoder")]
        lines.append(f"| {model.layers} | `{model.family}` | {counts[0]} | {counts[1]} |")
    return "".join(f"{line}\n" for line in lines)


TABLES = {"claims": table, "needed": needed}


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("analyses", type=Path, nargs="+", metavar="ANALYSIS.JSON")
    parser.add_argument("--record", type=Path, default=Path("docs/results/claims.json"))
    parser.add_argument("--page", type=Path, default=Path("docs/results/claims.md"))
    parser.add_argument("--depths", type=int, nargs="*", default=untrained_models.DEPTHS)
    parser.add_argument("--seeds", type=int, nargs="+", default=untrained_models.SEEDS)
    args = parser.parse_args(words)
    rows, inputs = trained(args.analyses)
    settings = {**untrained_models.SETTINGS, "depths": list(args.depths), "seeds": list(args.seeds)}
    record = ClaimsRecord(
        start=untrained_models.measure(args.depths, args.seeds),
        trained=rows,
        made_from={"start": settings, "trained": inputs, "versions": versions()},
    )
    args.record.write_text(json.dumps(to_builtins(record), indent=1) + "\n", encoding="utf-8")
    page_tables.write(args.page, {name: partial(table, record) for name, table in TABLES.items()})


def trained(analyses: Sequence[Path]) -> tuple[list[TrainedModel], list[dict[str, object]]]:
    """Return the trained models that the claims are about, and the hashes of the inputs of each analysis."""
    rows: list[TrainedModel] = []
    inputs: list[dict[str, object]] = []
    for path in analyses:
        record = records.read(path, AnalysisRecord, WRITER)
        rows += [summary(model) for model in record.models]
        origin = record.made_from
        hashes = {name: file.sha256 for name, file in origin.inputs.items()}
        inputs.append({"settings": origin.settings, "sha256": hashes, "versions": origin.versions})
    return rows, inputs


if __name__ == "__main__":
    main(sys.argv[1:])
