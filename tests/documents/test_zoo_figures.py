"""The pages of all residuals at three depths, and the page that chooses among them, hold the figures of the records."""

import re

import pytest
from figures.pages import record, row, says, span, table, text
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


def test_a_second_seed_leads_with_36_layers() -> None:
    rows = significant("zoo_36l/second_seed").values()
    ahead = span((row["delta"]["bleu"] for row in rows), ".1f")
    highest = max(row["p_holm"] for row in rows)
    assert len(rows) == 7
    says(page("36"), f"from a second seed, too**, by {ahead} BLEU (p at most {highest:.4f}, corrected for the seven)")


def test_who_leads_on_the_page_of_all_families() -> None:
    sentence = " ".join(text(RESIDUALS).split()).partition("in short trainings (two seeds), ")[2]
    six, deep, deeper = (leads(f"zoo_{depth}l/results").keys() for depth in DEPTHS)
    assert named(sentence.partition(" are significantly")[0]) == deep & deeper
    assert not six
    assert "deepnorm" in deeper - deep
    behind = [row for row in significant("zoo_6l/results").values() if row["delta"]["bleu"] < 0]
    says(page("6"), f"is significantly ahead of `pre_ln` in both seeds**, {len(behind)} are behind")


def test_second_seeds() -> None:
    without = [family for family, cells in trained("36").items() if (RATES[1], 2) not in cells]
    learning = [family for family in without if any(cell["scores"] for cell in trained("36")[family].values())]
    says("recipes/zoo/README.md", f"all but {len(learning)} second seeds with 36 layers")


def test_the_rates_that_were_chosen() -> None:
    words = " ".join(text(RESIDUALS).split()).partition("with 36 layers it chose 1e-3 for ")[2].partition(".")[0]
    learning = [
        (depth, family, cells.rate)
        for depth in DEPTHS
        for family, cells in trained(depth).items()
        if cells.mean != "stuck"
    ]
    lower = {(depth, family) for depth, family, rate in learning if rate == RATES[0]}
    assert lower == {("36", family) for family in named(words)}


@pytest.mark.parametrize("depth", DEPTHS)
def test_who_of_the_five_is_behind(depth: str) -> None:
    (line,) = re.findall(rf"^\* with {depth} layers (.+)$", text(FIVE), re.MULTILINE)
    behind = {family: -row["delta"]["bleu"] for family, row in significant(f"zoo_more/{depth}l").items()}
    unnamed = trained(depth, five=True).keys() - {"pre_ln"} - named(line)
    assert (unnamed if "all but" in line else named(line)) == behind.keys()
    assert f"by {span(behind.values(), '.1f', ' and ' if len(behind) == 2 else ' to ')}" in line


def test_who_of_the_five_is_not_behind() -> None:
    tuned = [
        {row["family"]: row["p_holm"] for row in record(f"zoo_more/{depth}l")["tuned"]["rows"]} for depth in DEPTHS
    ]
    first, second, third = (f"{p['lazy']:.2f}" for p in tuned)
    says(
        FIVE,
        f"`lazy` differs significantly at no depth (p {first}, {second} and {third}), "
        f"`rezero` not with 36 (p {tuned[2]['rezero']:.2f})",
    )
