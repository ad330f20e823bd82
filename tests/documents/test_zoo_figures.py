"""The pages of all residuals at three depths, and the page that chooses among them, hold the figures of the records."""

import re
from collections import defaultdict
from functools import cache
from statistics import fmean
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, says, span, table, text

from realformer_nmt.model.presets import FAMILIES_BY_IDEA

DEPTHS = ("6", "18", "36")
RESIDUALS = "docs/residuals.md"
FEW = ("zoo_more", "successors")  # records of some families beside Pre-LN
IDEAS = {family: idea for idea, families in FAMILIES_BY_IDEA.items() for family in families}
Content = dict[str, Any]
RATES = (0.001, 0.002)


class Trained(dict[tuple[float, int], Content]):
    """The cells of a family at one depth, by learning rate and seed."""

    @property
    def rate(self) -> float:
        return min(RATES, key=lambda rate: loss(self.get((rate, 1))))

    @property
    def mean(self) -> str:
        """The mean over seeds at the rate with the lower validation loss."""
        if not self:
            return "not yet"
        cells = [cell for (rate, _), cell in self.items() if rate == self.rate]
        scores = [score(cell) for cell in cells if cell["scores"]]
        return f"{fmean(scores):.1f}" if scores else str(cells[0]["state"])


def score(cell: Content) -> float:
    return float(cell["scores"]["bleu"]["score"])


def loss(cell: Content | None) -> float:
    return float(cell["scores"]["valid_loss"]["score"]) if cell and cell["scores"] else float("inf")


def bleu(cell: Content | None) -> str:
    return "" if cell is None else f"{score(cell):.1f}" if cell["scores"] else str(cell["state"])


@cache
def trained(depth: str, few: str = "") -> dict[str, Trained]:
    """Return the cells of the 37 families, or of a few, at a depth."""
    families: dict[str, Trained] = {}
    for file in RESULTS.glob(f"{few}/{depth}l.json" if few else f"zoo_{depth}l/*.json"):
        for cell in record(str(file.relative_to(RESULTS).with_suffix("")))["cells"]:
            families.setdefault(cell["family"], Trained())[cell["axes"]["lr"], cell["seed"]] = cell
    return families


def significant(name: str) -> dict[str, Content]:
    """Return the rows that differ significantly from Pre-LN, at the chosen rates where the record has both."""
    content = record(name)
    rows = (content["tuned"] or content)["rows"]
    return {row["family"]: row for row in rows if row["delta"] and row["p_holm"] is not None and row["p_holm"] < 0.05}


def leads(name: str) -> dict[str, float]:
    return {family: row["delta"]["bleu"] for family, row in significant(name).items() if row["delta"]["bleu"] > 0}


def named(words: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", words))


def page(depth: str) -> str:
    return f"docs/results/zoo_{depth}l/README.md"


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_table_of_every_residual(depth: str) -> None:
    lines = []
    for family, cells in trained(depth).items():
        best = cells[cells.rate, 1]
        last = (f"{loss(best):.2f}", f"{best['parameters']:,}") if best["scores"] else ("", "")
        figures = (bleu(cells.get(place)) for place in ((RATES[0], 1), (RATES[1], 1), (RATES[1], 2)))
        lines.append(row(IDEAS[family], f"`{family}`", *figures, *last))
    assert sorted(table(page(depth), "the best first:")) == sorted(lines)
    says(page(depth), f"{len(lines)} families")


@pytest.mark.parametrize("few", FEW)
def test_the_table_of_a_few(few: str) -> None:
    lines = []
    for family in trained("6", few):
        depths = [trained(depth, few)[family] for depth in DEPTHS]
        figures = [bleu(cells.get(at)) for cells in depths for at in ((RATES[0], 1), (RATES[1], 1), (cells.rate, 2))]
        lines.append(row(IDEAS[family], f"`{family}`", *figures))
    assert sorted(table(f"docs/results/{few}/README.md", "sacreBLEU:")) == sorted(lines)


def test_what_came_out_at_each_depth() -> None:
    lines = [line for line in text(RESIDUALS).partition("\n## Beside")[0].splitlines() if line.startswith("| `")]
    line_of = {family: line for line in lines for family in named(line.split(" | ")[0])}
    few = {family: name for name in FEW for family in trained("18", name) if family not in trained("18")}
    assert line_of.keys() == trained("6").keys() | few.keys()
    for family, line in line_of.items():
        figures = ", ".join(trained(depth, few.get(family, "")).get(family, Trained()).mean for depth in DEPTHS)
        assert (f"`{family}` " if line.count(f"`{family}`") > 1 else "| ") + figures in line
    for name in FEW:
        beside = [trained(depth, name)["pre_ln"].mean for depth in DEPTHS]
        says(RESIDUALS, "beside a `pre_ln` of {}, {} and {};".format(*beside))


@pytest.mark.parametrize("depth", ["18", "36"])
def test_who_leads(depth: str) -> None:
    ahead = leads(f"zoo_{depth}l/results")
    families = " ".join(text(page(depth)).split()).partition("ahead of `pre_ln` here: ")[2].partition("(")[0]
    assert named(families) == ahead.keys()
    highest = max(significant(f"zoo_{depth}l/results")[family]["p_holm"] for family in ahead)
    says(
        page(depth),
        f"are {span(ahead.values(), '.1f')} BLEU ahead of `pre_ln` here: {families}(p at most {highest:.3f},",
    )


def test_who_leads_on_the_page_of_all_families() -> None:
    sentence = " ".join(text(RESIDUALS).split()).partition("in short trainings (two seeds), ")[2]
    six, deep, deeper = (leads(f"zoo_{depth}l/results").keys() for depth in DEPTHS)
    assert named(sentence.partition(" are significantly")[0]) == deep & deeper
    assert not six
    assert "deepnorm" in deeper - deep
    behind = [row for row in significant("zoo_6l/results").values() if row["delta"]["bleu"] < 0]
    says(page("6"), f"is significantly ahead of `pre_ln` in both seeds**, {len(behind)} are behind")


def test_what_came_out_of_the_successors() -> None:
    page_of_few, more = "docs/results/successors/README.md", []
    for depth in ("18", "36"):
        cells = trained(depth, "successors")
        scores = {name: [score(cells[name][0.002, seed]) for seed in (1, 2)] for name in cells if name != "span_norm"}
        pairs = (zip(scores["moda"], scores[name], strict=True) for name in ("admin", "realformer"))
        more += [[f"{a - b:.1f}" for a, b in each] for each in pairs]
    says(page_of_few, "than `admin`, by {} and {} with 18 layers, by {} and {} with 36;".format(*more[0], *more[2]))
    says(page_of_few, "than `realformer`, by {} and {}, and by {} and {}.".format(*more[1], *more[3]))
    rows, deep = significant("successors/18l"), significant("successors/36l")
    assert rows.keys() - leads("successors/18l").keys() == {"span_norm"}
    says(page_of_few, *(f"(p {row['p_holm']:.3f})" for row in rows.values()), "(p 1.00)")
    behind = deep.pop("realformer")
    assert {*deep} == leads("successors/36l").keys() == {"block_attn_res", "mhc_lite", "moda", "delta"}
    gains = span((row["delta"]["bleu"] for row in deep.values()), ".1f")
    highest = max(row["p_holm"] for row in (behind, *deep.values()))
    says(page_of_few, f"{gains} BLEU, in both seeds (p at most {highest:.3f})", f"by {-behind['delta']['bleu']:.1f}.")
    spread = {name: abs(first - second) for name, (first, second) in scores.items()}
    says(page_of_few, "`realformer` differ by {realformer:.1f} BLEU, of `admin` by {admin:.1f}".format(**spread))
    most = max(spread[name] for name in deep)
    says(page_of_few, f"by {spread['orthogonal']:.1f}, those of the four that lead by at most {most:.1f}.")
    says(RESIDUALS, f"has {cells['moda'].mean} BLEU and `realformer` {cells['realformer'].mean}.")
    shallow = [row for row in record("successors/6l")["tuned"]["rows"] if row["delta"]]
    assert {row["p_holm"] for row in shallow} == {1.0}
    widest = max(abs(row["delta"]["bleu"]) for row in shallow)
    says(page_of_few, f"significantly from `pre_ln` (p 1.00): all are within {widest:.1f} BLEU of it.")


def test_depth_attention_in_every_topology() -> None:
    page_of_few, lines, cells = "docs/results/successors/README.md", [], defaultdict[Any, list[Content]](list)
    for depth in DEPTHS:
        rows = significant(f"successors/moda_{depth}l")
        for cell in record(f"successors/moda_{depth}l")["cells"]:
            cells[cell["family"], depth].append(cell)
        if depth != "6":
            highest = max(rows["moda_pre_ln"]["p_holm"], rows["moda_deepnorm"]["p_holm"])
            says(page_of_few, f"with {depth} layers (p at most {highest:.4f})")
    for family in ("pre_ln", "deepnorm", "resi_dual", "post_ln"):
        sides = [cells[name, depth] for depth in DEPTHS for name in (family, f"moda_{family}")]
        lines.append(row(f"`{family}`", *(", ".join(map(bleu, side)) for side in sides)))
        pairs = (zip(*sides[place : place + 2], strict=False) for place in (0, 2, 4))
        gains = [[score(more) - score(plain) for plain, more in each if plain["scores"]] for each in pairs]
        assert all(gain > 0 for each in gains for gain in each)
        for page_of_gains in (page_of_few, RESIDUALS) if all(gains) else ():
            says(page_of_gains, "`{}` {:.1f}, {:.1f} and {:.1f}".format(family, *map(fmean, gains)))
    assert table(page_of_few, "with depth attention:") == lines
