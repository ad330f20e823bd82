"""Draw the validation loss of the longer trainings of docs/results/multi30k_128: python tools/longer_plot.py

Each training left a record of its own; the plot is the report's, of all their cells.
"""

from pathlib import Path

from msgspec.structs import replace

from realformer_nmt.comparison.report import curve_plots
from realformer_nmt.comparison.results import results_file, summary
from realformer_nmt.comparison.results.results_file import Results

FOLDER = Path("docs/results/multi30k_128")


def main() -> None:
    (drawing,) = curve_plots.validation(joined(FOLDER))
    (FOLDER / "longer.png").write_bytes(drawing.png())


def joined(folder: Path) -> Results:
    """Return the cells of every record with 6,000 updates, with a row for each family."""
    records = [results_file.read(file) for file in sorted(folder.glob("longer*.json"))]
    cells = [cell for record in records for cell in record.cells]
    return replace(records[0], cells=cells, rows=summary.rows(cells, [], "bleu", "pre_ln"))


if __name__ == "__main__":
    main()
