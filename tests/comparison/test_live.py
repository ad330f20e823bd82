"""What is shown while cells run, on a terminal and in a file."""

import io
from pathlib import Path

from rich.console import Console

from realformer_nmt.comparison.cells import Cell
from realformer_nmt.comparison.grid import Failure
from realformer_nmt.comparison.live import Live
from realformer_nmt.comparison.running import Progress


def cells() -> list[Cell]:
    return [
        Cell(family, "6", 1, Path(f"{family}-6-s1"), Path("data"), ("en", "de"), (), Failure(), 0)
        for family in ("admin", "[red]")
    ]


def shown(terminal: bool) -> str:
    file = io.StringIO()
    one, other = cells()
    with Live([one, other], Console(file=file, force_terminal=terminal, width=150)) as live:
        for update in (50, 100):
            live.told(one, Progress("train", update, 200, 4.25, 5432.1))
        live.told(other, Progress("stuck"))
    return file.getvalue()


def test_a_file_gets_a_line_for_each_change_of_state() -> None:
    assert shown(terminal=False).splitlines() == [
        "admin-6-s1: train, 4.25 bits, 5,432 tokens/s",
        "[red]-6-s1: stuck",
    ]


def test_a_terminal_gets_bar_loss_speed_and_count() -> None:
    text = shown(terminal=True)
    for part in ("admin-6-s1", "100/200", "4.25 bits", "5,432 tokens/s", "stuck"):
        assert part in text
