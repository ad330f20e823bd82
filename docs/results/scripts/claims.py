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
from msgspec import to_builtins

from realformer_nmt.analysis import at_initialisation, claims
from realformer_nmt.analysis.analysis_record import AnalysisRecord
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.versions import versions

WRITER = "`realformer-nmt analyse` writes it"


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("analyses", type=Path, nargs="+", metavar="ANALYSIS.JSON")
    parser.add_argument("--record", type=Path, default=Path("docs/results/claims.json"))
    parser.add_argument("--page", type=Path, default=Path("docs/results/claims.md"))
    parser.add_argument("--depths", type=int, nargs="*", default=at_initialisation.DEPTHS)
    parser.add_argument("--seeds", type=int, nargs="+", default=at_initialisation.SEEDS)
    args = parser.parse_args(words)
    rows, inputs = trained(args.analyses)
    settings = {**at_initialisation.SETTINGS, "depths": list(args.depths), "seeds": list(args.seeds)}
    record = claims.ClaimsRecord(
        start=at_initialisation.measure(args.depths, args.seeds),
        trained=rows,
        made_from={"start": settings, "trained": inputs, "versions": versions()},
    )
    args.record.write_text(json.dumps(to_builtins(record), indent=1) + "\n", encoding="utf-8")
    page_tables.write(args.page, {name: partial(table, record) for name, table in claims.TABLES.items()})


def trained(analyses: Sequence[Path]) -> tuple[list[claims.TrainedModel], list[dict[str, object]]]:
    """Return the trained models that the claims are about, and the hashes of the inputs of each analysis."""
    rows: list[claims.TrainedModel] = []
    inputs: list[dict[str, object]] = []
    for path in analyses:
        record = records.read(path, AnalysisRecord, WRITER)
        rows += [claims.summary(model) for model in record.models]
        origin = record.made_from
        hashes = {name: file.sha256 for name, file in origin.inputs.items()}
        inputs.append({"settings": origin.settings, "sha256": hashes, "versions": origin.versions})
    return rows, inputs


if __name__ == "__main__":
    main(sys.argv[1:])
