"""Example sentences of results.json: quoted as far as the files are those that were scored."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import read_lines, read_recorded
from realformer_nmt.comparison.cell import Cell
from realformer_nmt.data_bins.note import AGAIN, NAME, difference
from realformer_nmt.data_bins.note import read as read_note

EXAMPLES = 8  # sentences
Record = dict[str, Any]


def examples(cells: Sequence[Cell], runs: Sequence[Record]) -> list[Record]:
    """Sentences evenly spread over the test set, as the cells of the first seed translate them."""
    done = [
        (cell, run)
        for cell, run in zip(cells, runs, strict=True)
        if "reference" in run.get("files", ()) and cell.seed == cells[0].seed
    ]
    if not done:
        return []
    reference = lines(*done[0], "reference")
    places = [(2 * number + 1) * len(reference) // (2 * EXAMPLES) for number in range(EXAMPLES)]
    hypotheses = {cell.name: lines(cell, run, "hypotheses") for cell, run in done}
    source = source_lines(done[0][1])
    return [
        {
            "source": source[place] if source else "",
            "reference": reference[place],
            "hypotheses": {name: texts[place] for name, texts in hypotheses.items()},
        }
        for place in sorted(set(places))
    ]


def lines(cell: Cell, run: Record, name: str) -> list[str]:
    file = run["files"][name]
    return read_recorded(cell.folder / file["path"], file["sha256"], cell.scores)


def source_lines(run: Record) -> list[str]:
    """Raw, where the corpus was prepared here."""
    translation = run["translation"]
    if not translation["prepared"] or "subset" not in translation:
        return []
    note = Path(translation["prepared"], NAME)
    name = f"{translation['subset']}.raw.{translation['languages'][0]}"
    noted = read_note(note).get(name) if note.is_file() else None
    if noted and (told := difference(note.parent / name, noted)):
        raise UserError(f"{told}, says {note}; {AGAIN}")
    return read_lines(note.parent / name) if noted else []
