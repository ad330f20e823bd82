"""The tables that docs/results/scripts write into the pages are what they write from the records of today."""

import re
from functools import partial

import claims
import multi30k_128
import pre_ln_tables
import pytest
from figures.pages import RESULTS, record
from msgspec import convert
from programs.program import REPOSITORY

CLAIMS = {"claims.md": "claims", "multi30k_128/README.md": "claims_longer"}  # of each page, its record
PLACE = re.compile(r"<!-- table (\w+) -->\n\n(.*?)\n<!-- end -->", re.DOTALL)
WITHOUT_SCRIPT = {"seeds"}
WRITTEN = {
    (str(page.relative_to(RESULTS)), name): written
    for page in sorted(RESULTS.rglob("*.md"))
    for name, written in PLACE.findall(page.read_text())
    if name not in WITHOUT_SCRIPT
}


@pytest.mark.parametrize(("page", "name"), WRITTEN)
def test_a_table_is_what_its_script_writes(page: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    tables = pre_ln_tables.TABLES | multi30k_128.TABLES
    if page in CLAIMS:
        measured = convert(record(CLAIMS[page]), claims.ClaimsRecord)
        tables |= {name: partial(table, measured) for name, table in claims.TABLES.items()}
    assert WRITTEN[page, name] == tables[name]()


def test_every_script_has_its_place() -> None:
    assert {name for _, name in WRITTEN} == {*pre_ln_tables.TABLES, *multi30k_128.TABLES, *claims.TABLES}


def test_the_plot_is_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    longer = sorted((RESULTS / "multi30k_128").glob("longer*.json"))
    names = [cell["name"] for file in longer for cell in record(f"multi30k_128/{file.stem}")["cells"]]
    assert [cell.name for cell in multi30k_128.joined(longer, "18").cells] == names
