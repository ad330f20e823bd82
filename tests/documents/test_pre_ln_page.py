"""Every figure of docs/why_pre_ln_leads.md is the record's, and so are the tables beside the records behind it."""

import json
import re
import statistics
from typing import Any

import pytest
from programs.program import REPOSITORY

PAGE = (REPOSITORY / "docs" / "why_pre_ln_leads.md").read_text()
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


def record(file: str) -> dict[str, Any]:
    return json.loads((REPOSITORY / "docs" / "results" / file).read_text())


def shown(cell: str, figure: float) -> bool:
    return abs(float(cell) - figure) <= 0.5 * 10.0 ** -len(cell.partition(".")[2]) + 1e-9


@pytest.mark.parametrize(
    ("name", "place", "files"),
    [
        ("budget", "multi30k_en_de", ["multi30k_en_de_6l/results.json", "multi30k_en_de/results.json"]),
        ("crossing", "multi30k_128", ["multi30k_128/longer_seed_1.json"]),
    ],
)
def test_losses_and_scores_of_multi30k(name: str, place: str, files: list[str]) -> None:
    records = [record(file) for file in files]
    cells = {(str(cell["depth"]), cell["family"]): cell for results in records for cell in results["cells"]}
    table = rows(name, beside(place))
    assert {(row["layers"], row["family"]) for row in table} == cells.keys()
    for row in table:
        cell = cells[row.pop("layers"), row.pop("family")]
        score = row.pop("sacreBLEU")
        assert shown(score, cell["scores"]["bleu"]["score"]) if cell["scores"] else score == cell["state"]
        points = {str(point["update"]): point["nll_loss"] for point in cell["curves"]["valid"]}
        assert {update for update, loss in row.items() if loss} == points.keys()
        assert all(shown(row[update], loss) for update, loss in points.items())


def test_scores_after_500_updates() -> None:
    results = record("quickstart_500/results.json")
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
    cells = {(cell["family"], *cell["axes"].values()): cell for cell in record(f"{name}/results.json")["cells"]}
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
    for cell in record("quickstart_longer/results.json")["cells"]:
        scores.setdefault((cell["family"], str(cell["axes"]["updates"])), []).append(cell["scores"]["bleu"]["score"])
    assert table.keys() == scores.keys()
    for place, of_seeds in scores.items():
        mean, deviation = table[place].split(" ± ")
        assert shown(mean, statistics.mean(of_seeds))
        assert shown(deviation, statistics.stdev(of_seeds))


def test_leads_at_three_budgets() -> None:
    """The page tells the leads seed by seed, and they shrink."""
    cells = record("quickstart_longer/results.json")["cells"]
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


def test_scores_and_losses_at_two_budgets() -> None:
    """The figures are of the first seed, the only one that both budgets have."""
    cells = [cell for name in ("short", "longer_seed_1") for cell in record(f"multi30k_128/{name}.json")["cells"]]
    cell_scores = {
        (str(cell["axes"]["updates"]), cell["family"]): cell["scores"]
        for cell in cells
        if (cell["depth"], cell["seed"]) == ("18", 1)
    }
    table = rows("longer", beside("multi30k_128"))
    assert [row["updates"] for row in table] == ["2000", "6000"]
    for row in table:
        for family in ("pre_ln", "realformer"):
            scores = cell_scores[row["updates"], family]
            assert shown(row[family], scores["bleu"]["score"])
            assert shown(row[f"{family}`, loss"], scores["valid_loss"]["score"])


def test_what_the_second_seed_of_the_longer_training_says() -> None:
    """The test finds no difference, as both pages say."""
    second = record("multi30k_128/longer_seed_2.json")
    scores = {cell["family"]: cell["scores"] for cell in second["cells"]}
    bleu = {family: f"{scores[family]['bleu']['score']:.2f}" for family in scores}
    loss = {family: f"{scores[family]['valid_loss']['score']:.2f}" for family in scores}
    (p,) = (row["p"] for row in second["rows"] if row["family"] == "realformer")
    assert p > 0.05
    ends = f"Pre-LN ends at {loss['pre_ln']} bits and {bleu['pre_ln']} BLEU, RealFormer at {loss['realformer']} and "
    assert f"{ends}{bleu['realformer']} (p {p:.2f})." in WORDS
    begun = " ".join(beside("multi30k_128").split())
    ends = f"Pre-LN at {bleu['pre_ln']} BLEU and {loss['pre_ln']} bits, RealFormer at {bleu['realformer']} and "
    assert f"{ends}{loss['realformer']} (p {p:.2f})." in begun


def test_what_the_third_seed_of_the_longer_training_says() -> None:
    ends = []
    for family, file in (("realformer", "longer_seed_3"), ("pre_ln", "longer_seed_3_pre_ln")):
        (cell,) = record(f"multi30k_128/{file}.json")["cells"]
        assert (cell["family"], cell["seed"]) == (family, 3)
        ends += [f"{cell['scores'][metric]['score']:.2f}" for metric in ("bleu", "valid_loss")]
    bleu, loss, bleu_of_pre_ln, loss_of_pre_ln = ends
    third = f"With the third, Pre-LN ends at {loss_of_pre_ln} bits and {bleu_of_pre_ln} BLEU, RealFormer at {loss} and"
    assert f"{third} {bleu}." in WORDS
    third = f"RealFormer's third seed ends at {bleu} BLEU and {loss} bits, Pre-LN's at {bleu_of_pre_ln} and"
    assert f"{third} {loss_of_pre_ln}." in " ".join(beside("multi30k_128").split())


def test_what_the_longer_training_says() -> None:
    short, longer = (
        {row["family"]: row for row in rows("crossing", beside("multi30k_128"))},
        record("multi30k_128/longer_seed_1.json"),
    )
    lead = [
        float(row["pre_ln"]) - float(row["realformer"]) for row in rows("longer", beside("multi30k_128"))
    ]  # of scores with two digits, as the record has them
    p = next(row["p"] for row in longer["rows"] if row["family"] == "realformer")
    assert f"ahead by {lead[0]:.2f} BLEU, with 6,000 RealFormer by {-lead[1]:.2f}," in WORDS
    assert f"do not tell apart (p {p:.2f})" in WORDS
    points = [update for update in short["pre_ln"] if update.isdigit()]
    ahead = [float(short["pre_ln"][point]) < float(short["realformer"][point]) for point in points]
    assert ahead == sorted(ahead, reverse=True)
    last = ahead.index(False) - 1
    assert f"between update {int(points[last]):,} and {int(points[last + 1]):,}, and ends" in WORDS
    losses = {cell["family"]: cell["scores"]["valid_loss"]["score"] for cell in longer["cells"]}
    assert f"ends {losses['pre_ln'] - losses['realformer']:.2f} bits below it" in WORDS


def test_what_its_analysis_says() -> None:
    page = " ".join(beside("multi30k_128").split())
    entropies, divergences = [], []
    for seed in ("longer_seed_1", "longer_seed_2"):
        (analysis,) = record(f"multi30k_128/{seed}.json")["analyses"]
        assert [claim["agrees"] for claim in analysis["claims"]] == [False, True]
        entropy, divergence = (re.findall(r"\d\.\d\d", claim["measured"]) for claim in analysis["claims"])
        assert set(divergence[::2]) == {"0.02"}
        entropies.append(entropy[:2])
        divergences.append(min(divergence[1::2]))
    of_realformer, of_pre_ln = map(" and ".join, zip(*entropies, strict=True))
    assert f"(entropy in the encoder {of_realformer} bits; Pre-LN's {of_pre_ln})" in page
    assert f"(divergence 0.02 bits in each chain; Pre-LN's from {' and '.join(divergences)})" in page


def test_scores_of_the_quickstart() -> None:
    six, eighteen = (
        {family: cells[place] for family, *cells in re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (\S+)", README, re.M)}
        for place in (0, 1)
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
    measured = {
        (str(row["depth"]), row["family"]): row["gradient"] for row in record("gradients_at_start.json")["rows"]
    }
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
