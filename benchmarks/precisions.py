"""What decoding in another precision costs in BLEU: trained models of a comparison, each translated and scored anew.

python benchmarks/precisions.py demo --prepared demo/data
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sacrebleu
from sacrebleu.significance import PairedTest
from tabulate import tabulate

from realformer_nmt.common.versions import processor, versions
from realformer_nmt.evaluation.translate import EXACT, PRECISIONS
from realformer_nmt.evaluation.translation_record import HYPOTHESES

SAMPLES = 1000
RUN = [sys.executable, "-m", "realformer_nmt.cli"]


def measure(cell: Path, prepared: Path, folder: Path, decoding: list[str], references: list[str]) -> Iterator[Any]:
    """A row for each precision: the score, the difference to the exact one and how far it may be by chance."""
    texts = {name: translated(cell, prepared, folder / cell.name / name, name, decoding) for name in PRECISIONS}
    systems: list[tuple[str, Any]] = [
        (name, texts[name]) for name in (EXACT, *(name for name in PRECISIONS if name != EXACT))
    ]
    paired: Any = PairedTest(systems, {"BLEU": sacrebleu.BLEU()}, [references], test_type="bs", n_samples=SAMPLES)
    results = paired()[1]["BLEU"]
    for (name, lines), found in zip(systems, results, strict=True):
        same = sum(one == other for one, other in zip(lines, texts[EXACT], strict=True))
        yield {
            "cell": cell.name,
            "precision": name,
            "bleu": round(found.score, 2),
            "interval": round(found.ci, 2),
            "against fp32": round(found.score - results[0].score, 2) + 0.0,  # no minus before zero
            "p": None if found.p_value is None else round(found.p_value, 4),
            "same lines": same,
            "lines": len(lines),
        }


def translated(cell: Path, prepared: Path, folder: Path, precision: str, decoding: list[str]) -> list[str]:
    words = ["translate", str(cell / "average.pt"), "--prepared", str(prepared), "--cpu", *decoding]
    subprocess.run([*RUN, *words, "--precision", precision, "--output", str(folder)], check=True)
    return (folder / HYPOTHESES).read_text(encoding="utf-8").split("\n")[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparison", type=Path, help="folder of `realformer-nmt compare`")
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--references", type=Path, required=True, help="raw text of the test set")
    parser.add_argument("--decoding", default="--beam 4", help="options of translate")
    parser.add_argument("--work", type=Path, default=Path("precisions"), help="folder for the translations")
    parser.add_argument("--json", type=Path, default=Path("precisions.json"))
    args = parser.parse_args()
    references = args.references.read_text(encoding="utf-8").split("\n")[:-1]
    cells = sorted(file.parent for file in args.comparison.glob("cells/*/average.pt"))
    rows = [
        row for cell in cells for row in measure(cell, args.prepared, args.work, shlex.split(args.decoding), references)
    ]
    print(tabulate(rows, headers="keys"))
    made = {"versions": versions(), "processor": processor(), "decoding": args.decoding, "samples": SAMPLES}
    args.json.write_text(json.dumps({**made, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
