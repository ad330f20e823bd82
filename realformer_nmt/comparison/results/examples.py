"""Example sentences of results.json, from the files that were scored; a file that has changed is refused."""

from collections.abc import Sequence

from realformer_nmt.common.files.text_lines import read_recorded
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.results.results_file import ExampleSentence
from realformer_nmt.data_bins.file_checks import NAME, read_files
from realformer_nmt.evaluation.run_record import RunRecord

EXAMPLES = 8  # sentences


def examples(cells: Sequence[Cell], runs: Sequence[RunRecord | None]) -> list[ExampleSentence]:
    """Return sentences evenly spread over the test set, as the cells of the first seed translate them."""
    done = [
        (cell, run)
        for cell, run in zip(cells, runs, strict=True)
        if run and "reference" in run.files and cell.seed == cells[0].seed
    ]
    if not done:
        return []
    reference = lines(*done[0], "reference")
    numbers = {(2 * number + 1) * len(reference) // (2 * EXAMPLES) for number in range(EXAMPLES)}
    digest = done[0][1].files["reference"].sha256  # a cell that no longer fits may have translated another text
    same = [(cell, run) for cell, run in done if run.files["reference"].sha256 == digest]
    hypotheses = {cell.name: lines(cell, run, "hypotheses") for cell, run in same}
    source = source_lines(*done[0])
    return [
        ExampleSentence(
            source=source[number] if source else "",
            reference=reference[number],
            hypotheses={name: texts[number] for name, texts in hypotheses.items()},
        )
        for number in sorted(numbers)
    ]


def lines(cell: Cell, run: RunRecord, name: str) -> list[str]:
    """Read a text that a run was scored with; one that has changed since is refused."""
    file = run.files[name]
    return read_recorded(cell.folder / file.path, file.sha256, cell.scores)


def source_lines(cell: Cell, run: RunRecord) -> list[str]:
    """Read the raw source beside the reference, where both were prepared here; else there is none."""
    if not run.translation or not run.translation.subset:
        return []
    note = (cell.folder / run.files["reference"].path).with_name(NAME)  # they may have been moved, the cell with them
    name = f"{run.translation.subset}.raw.{run.translation.languages[0]}"
    recorded = read_files(note).get(name) if note.is_file() else None
    return read_recorded(note.parent / name, recorded.sha256, note) if recorded else []
