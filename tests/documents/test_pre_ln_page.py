"""Every figure of docs/results/why_pre_ln_leads.md is the record's, and so are the tables of records behind it."""

import json
import re
import statistics
from typing import Any

import pytest
from msgspec import to_builtins
from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file

PAGE = (REPOSITORY / "docs" / "results" / "why_pre_ln_leads.md").read_text()
WORDS = " ".join(PAGE.split())
README = (REPOSITORY / "README.md").read_text()
Row = dict[str, str]


def beside(record_name: str, page: str = "README.md") -> str:
    return (REPOSITORY / "docs" / "results" / record_name / page).read_text()


def rows(name: str, page: str = PAGE) -> list[Row]:
    match = re.search(rf"<!-- table {name} -->\n\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert match
    head, _, *lines = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in match[1].splitlines()]
    return [dict(zip(head, line, strict=True)) for line in lines]


def record(name: str) -> dict[str, Any]:
    results: dict[str, Any] = to_builtins(results_file.read(REPOSITORY / "docs" / "results" / name / "results.json"))
    return results


def shown(cell: str, figure: float) -> bool:
    return abs(float(cell) - figure) <= 0.5 * 10.0 ** -len(cell.partition(".")[2]) + 1e-9


def test_losses_and_scores_of_multi30k() -> None:
    records = [record(name) for name in ("multi30k_en_de_6l", "multi30k_en_de")]
    cells = {(str(cell["depth"]), cell["family"]): cell for results in records for cell in results["cells"]}
    table = rows("budget", beside("multi30k_en_de"))
    assert {(row["layers"], row["family"]) for row in table} == cells.keys()
    for row in table:
        cell = cells[row.pop("layers"), row.pop("family")]
        score = row.pop("sacreBLEU")
        assert shown(score, cell["scores"]["bleu"]["score"]) if cell["scores"] else score == cell["state"]
        points = {str(point["update"]): point["nll_loss"] for point in cell["curves"]["valid"]}
        assert {update for update, loss in row.items() if loss} == points.keys()
        assert all(shown(row[update], loss) for update, loss in points.items())


def test_scores_after_500_updates() -> None:
    results = record("quickstart_500")
    scores = {cell["family"]: cell["scores"]["bleu"]["score"] for cell in results["cells"]}
    table = {row["family"]: row["500 updates"] for row in rows("easy", beside("quickstart_500"))}
    assert table.keys() == scores.keys()
    assert all(shown(table[family], score) for family, score in scores.items())
    behind = re.search(r"Post-LN is ([\d.]+) points behind Pre-LN", WORDS)
    assert behind
    assert shown(behind[1], scores["pre_ln"] - scores["post_ln"])
    assert all(row["p_holm"] > 0.7 for row in results["rows"] if row["family"] in ("admin", "realformer"))


@pytest.mark.parametrize(
    ("table", "name"), [("rates", "ablations_lr"), ("half", "ablations_budget"), ("dropout", "ablations_dropout")]
)
def test_scores_of_an_ablation(table: str, name: str) -> None:
    """A heading has the value on each axis, in the order of the grid."""
    cells = {(cell["family"], *cell["axes"].values()): cell for cell in record(name)["cells"]}
    lines = {
        (row["family"], *map(float, re.findall(r"[\d.]+", head))): score
        for row in rows(table, beside(name))
        for head, score in row.items()
        if head != "family"
    }
    assert lines.keys() == cells.keys()
    for place, score in lines.items():
        cell = cells[place]
        assert shown(score, cell["scores"]["bleu"]["score"]) if cell["scores"] else score == cell["state"]


def test_scores_at_three_budgets() -> None:
    table = {(family, row["updates"]): row[family] for row in rows("deep") for family in row if family != "updates"}
    scores: dict[tuple[str, str], list[float]] = {}
    for cell in record("quickstart_longer")["cells"]:
        scores.setdefault((cell["family"], str(cell["axes"]["updates"])), []).append(cell["scores"]["bleu"]["score"])
    assert table.keys() == scores.keys()
    for place, of_seeds in scores.items():
        mean, deviation = table[place].split(" ± ")
        assert shown(mean, statistics.mean(of_seeds))
        assert shown(deviation, statistics.stdev(of_seeds))


def test_leads_at_three_budgets() -> None:
    """The page tells the leads seed by seed, and they shrink."""
    cells = record("quickstart_longer")["cells"]
    bleu = {(cell["family"], cell["seed"], cell["axes"]["updates"]): cell["scores"]["bleu"]["score"] for cell in cells}
    match = re.search(r"RealFormer by (11.*?); of\s+ADMIN by (.*?)\.\s", PAGE, re.DOTALL)
    assert match
    for family, text in zip(("realformer", "admin"), match.groups(), strict=True):
        places = [(seed, updates) for seed in (1, 2) for updates in (375, 750, 1500)]
        leads = [bleu[("pre_ln", *place)] - bleu[(family, *place)] for place in places]
        figures = re.findall(r"-?\b\d+\.\d\d\b", text.replace("\N{MINUS SIGN}", "-"))
        assert all(shown(figure, lead) for figure, lead in zip(figures, leads, strict=True))
        assert leads[2] < leads[0] / 4
        assert leads[5] < leads[3] / 4


def test_scores_of_the_quickstart() -> None:
    families, *table = re.findall(r"^\| (?:sacreBLEU|(?:6|18)L-.*?) \| (.*) \|$", README, re.MULTILINE)
    six, eighteen = (
        dict(zip(families.replace("`", "").split(" | "), scores.split(" | "), strict=True)) for scores in table
    )
    quoted = re.search(
        r"Pre-LN has (\S+) BLEU with 6\s+layers, ADMIN (\S+), RealFormer (\S+), Post-LN (\S+): .*?"
        r"Pre-LN \((\S+), (\S+)\), RealFormer is behind \((\S+)\)",
        PAGE,
        re.DOTALL,
    )
    assert quoted
    families = ("pre_ln", "admin", "realformer")
    assert quoted.groups()[:4] == (*(six[family] for family in families), six["post_ln"])
    assert quoted.groups()[4:] == (eighteen["admin"], eighteen["pre_ln"], eighteen["realformer"])
    behind = re.search(r"half as many again, Post-LN is ([\d.]+) points behind", WORDS)
    assert behind
    assert float(behind[1]) == pytest.approx(float(six["pre_ln"]) - float(six["post_ln"]))


def test_gradients() -> None:
    recorded = json.loads(beside(".", "gradients_at_start.json"))["rows"]
    measured = {(str(row["depth"]), row["family"]): row["gradient"] for row in recorded}
    table = rows("gradients", beside(".", "gradients.md"))
    assert {(row["layers"], row["family"]) for row in table} == measured.keys()
    for row in table:
        norms = measured[row["layers"], row["family"]]
        assert all(shown(row[place], norm) for place, norm in norms.items())
        assert shown(row["last / first"], norms["last of the decoder"] / norms["first of the decoder"])
    match = re.search(r"a gradient (\d+) times as large", WORDS)
    assert match
    deep = measured["18", "post_ln"]
    assert round(deep["last of the decoder"] / deep["first of the decoder"]) == int(match[1])
