"""The pages of all residuals at three depths, and the page that chooses among them, hold the figures of the records."""

import re

import pytest
from figures.pages import row, says, span, table, text
from figures.zoo import RATES, bleu, leads, loss, significant, trained

from realformer_nmt.model.presets import FAMILIES_BY_IDEA

DEPTHS = ("6", "18", "36")
FIVE, RESIDUALS = "docs/results/zoo_more/README.md", "docs/residuals.md"
IDEAS = {family: idea for idea, families in FAMILIES_BY_IDEA.items() for family in families}


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


def test_the_table_of_five() -> None:
    lines = []
    for family in trained("6", five=True):
        depths = [trained(depth, five=True)[family] for depth in DEPTHS]
        figures = [bleu(cells.get(at)) for cells in depths for at in ((RATES[0], 1), (RATES[1], 1), (cells.rate, 2))]
        lines.append(row(IDEAS[family], f"`{family}`", *figures))
    assert sorted(table(FIVE, "sacreBLEU:")) == sorted(lines)


def test_what_came_out_at_each_depth() -> None:
    lines = [line for line in text(RESIDUALS).partition("\n## Beside")[0].splitlines() if line.startswith("| `")]
    line_of = {family: line for line in lines for family in named(line.split(" | ")[0])}
    five = trained("6", five=True).keys() - {"pre_ln"}
    assert line_of.keys() == trained("6").keys() | five
    for family, line in line_of.items():
        figures = ", ".join(trained(depth, family in five)[family].mean for depth in DEPTHS)
        assert (f"`{family}` " if line.count(f"`{family}`") > 1 else "| ") + figures in line
    first, second, third = (trained(depth, five=True)["pre_ln"].mean for depth in DEPTHS)
    says(RESIDUALS, f"beside a `pre_ln` of {first}, {second} and {third};")


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
