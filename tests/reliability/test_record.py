"""The record of `make reliability`: figures beside one another in one file, and a page that shows them all."""

import json
from pathlib import Path

from reliability import record
from reliability.__main__ import TRIALS

ABOUT = {"processor": "a CPU, 2 cores", "system": "Linux 6", "when": "2026-11-20", "versions": {"torch": "2.13.0"}}
PAGE = "# Reliability\n\nWords.\n\n<!-- figures -->\nold\n<!-- end of figures -->\n\nMore words.\n"


def test_a_trial_takes_the_place_of_what_it_found_before(tmp_path: Path) -> None:
    file, page = tmp_path / "figures.json", tmp_path / "page.md"
    page.write_text(PAGE)
    record.note("soak", {"updates": 9}, ABOUT, file, page)
    record.note("kills", {"kills survived": 3}, ABOUT, file, page)
    record.note("soak", {"updates": 2000}, ABOUT, file, page)
    trials = json.loads(file.read_text())
    assert {name: len(figures) for name, figures in trials.items()} == {"soak": 2, "kills": 2}
    text = page.read_text()
    assert text.startswith("# Reliability\n\nWords.\n\n<!-- figures -->\n\n### Kills\n")
    assert text.endswith("<!-- end of figures -->\n\nMore words.\n")
    assert "old" not in text
    assert [line.split("|")[2].strip() for line in text.splitlines() if "updates" in line] == ["2000"]
    assert text.count("a CPU, 2 cores, Linux 6, 2026-11-20") == 2


def test_what_lies_within_and_lists_are_shown() -> None:
    rows = dict(record.rows({"2 of torchrun": {"seconds": 1.5}, "tried": ["one", "two"]}))
    assert rows == {"2 of torchrun: seconds": "1.5", "tried": "one; two"}


def test_the_page_has_a_title_for_every_trial() -> None:
    assert set(record.TITLES) == set(TRIALS)


def test_the_page_has_room_for_the_figures() -> None:
    assert record.GENERATED.search(record.PAGE.read_text())
