"""A report prints the cells' own settings and versions, whatever the grid and this machine say."""

import csv
import io

from grids.sample_results import Results, change_cells, sample
from lxml import html
from msgspec.structs import replace
from test_document import quick_page

from realformer_nmt.comparison.report import provenance, tables


def another(results: Results, cell: str, **changes: object) -> Results:
    change_cells(results, lambda each: each.name == cell, **changes)
    return results


def facts(page: html.HtmlElement, cell: str) -> dict[str, str]:
    (details,) = [each for each in page.xpath("//details[@class='cell']") if each.findtext(".//span") == cell]
    names = [name.text for name in details.xpath(".//dl[@class='facts']/dt")]
    return dict(zip(names, [" ".join(fact.text_content().split()) for fact in details.xpath(".//dl/dd")], strict=True))


def test_settings_are_the_cells_and_not_the_grids() -> None:
    """The grid says 0.4; all cells but one were trained with 0.1, and that one with 0.2."""
    results = replace(sample(seeds=2), grid="[train]\ndropout = 0.4\n")
    (cell,) = [each for each in results.cells if each.name == "admin-6-s1"]
    page = quick_page(another(results, "admin-6-s1", settings={**cell.settings, "dropout": 0.2}))
    assert "dropout 0.2" in facts(page, "admin-6-s1")["Settings of its own"]
    assert "dropout 0.1" in facts(page, "pre_ln-6-s1")["Settings of its own"]
    (shared,) = page.xpath("//details[starts-with(summary, 'Settings that all cells share')]/pre")
    assert shared.text.split("\n")[:2] == ["lr [0.001]", "decoding.beam 4"]


def test_a_cell_that_was_not_decoded_does_not_say_how() -> None:
    results = sample(seeds=1)
    stuck = next(cell for cell in results.cells if cell.state == "stuck")
    del stuck.settings["decoding"]
    shared = provenance.shared(results.cells)
    assert shared["decoding.beam"] == "4"
    assert "decoding.beam" not in provenance.unshared(stuck, shared)
    assert "model" not in shared


def test_other_versions_are_marked_in_every_table() -> None:
    results = sample(seeds=1)
    (cell,) = [each for each in results.cells if each.name == "admin-6-s1"]
    difference = "torch 2.10.0: admin-6-s1 (the others: 2.13.0)"
    another(results, "admin-6-s1", versions={**cell.versions, "torch": "2.10.0"})
    results = replace(results, versions_apart=[difference])
    page = quick_page(results)
    marked = [row.findtext("th") for row in page.xpath("//div[contains(@class, 'pane-0')]//tr[td]")]
    assert [name for name in marked if "†" in name] == ["admin †"]
    assert f"† Of another version: {difference}." in page.text_content()
    for text in (tables.terminal_table(results), tables.markdown(results)):
        assert next(line.split("†")[0].strip("| ") for line in text.splitlines() if "†" in line) == "admin"
    assert tables.latex(results).count(r"admin $\dagger$ & 6 ") == 1
    assert "torch 2.10.0" in facts(page, "admin-6-s1")["Versions"]


def test_the_spreadsheet_says_which_version_made_a_row() -> None:
    results = sample(seeds=2)
    another(results, "admin-6-s2", versions={"realformer_nmt": "0.0.9", "commit": "abc"})
    lines = csv.DictReader(io.StringIO(tables.spreadsheet(results)))
    versions = {(line["family"], line["depth"]): line["version"] for line in lines}
    common = versions.pop(("pre_ln", "6"))
    assert versions.pop(("admin", "6")) == f"{common}; realformer_nmt 0.0.9 commit abc"
    assert results.cells[0].versions["commit"] in common
    assert set(versions.values()) == {common}


def test_the_versions_on_top_are_those_of_the_cells() -> None:
    results = replace(sample(seeds=1), versions={"torch": "2.99.0"}, commit="another")  # of whoever writes the report
    page = quick_page(results)
    header = page.xpath("string(//header)")
    assert "torch 2.13.0" in header
    assert results.cells[0].versions["commit"] in header
    assert "2.99.0" not in header
    assert "another" not in header


def test_a_cell_that_the_grid_asks_for_otherwise_now_is_named_at_the_top() -> None:
    results = another(sample(seeds=1), "admin-6-s1", differences=["dropout was 0.1, is now 0.4"])
    (notice,) = quick_page(results).xpath("//header//div[@role='alert']")
    assert " ".join(notice.xpath("string(.//li)").split()) == "admin-6-s1: dropout was 0.1, is now 0.4"
    assert quick_page(sample(seeds=1)).xpath("//div[@role='alert']") == []
