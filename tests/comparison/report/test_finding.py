"""The sentence on the first card, against results made by hand."""

from collections.abc import Mapping

import pytest
from grids.sample_results import sample
from msgspec.structs import replace
from test_document import quick_page

from realformer_nmt.comparison.report.finding import MOST_CLAUSES, finding
from realformer_nmt.comparison.results.results_file import MeanScore, ResultRow, Results, TunedTable

ONE_SEED = "each model has one seed, which shows nothing beyond that seed"


def row(
    family: str,
    depth: int,
    bleu: float | None,
    p_holm: float | None = None,
    *,
    best: bool = False,
    states: str = "done done",
    axes: Mapping[str, float] | None = None,
) -> ResultRow:
    """A row as results.json has it; without a score its trainings failed."""
    ended = states.split() if bleu is not None else ["stuck"] * len(states.split())
    return ResultRow(
        family=family,
        layers=[depth, depth],
        depth=str(depth),
        axes=dict(axes or {}),
        seeds=ended.count("done"),
        failed=ended.count("stuck") + ended.count("diverged"),
        states=ended,
        scores={} if bleu is None else {"bleu": MeanScore(mean=bleu, deviation=None)},
        p_holm=p_holm,
        best=best,
    )


def results(*rows: ResultRow) -> Results:
    return replace(sample(seeds=1), rows=list(rows), baseline="pre_ln")


SENTENCES = {
    "Every family learns; at 6 layers pre_ln leads beyond chance; "
    "at 18 layers realformer is best, but admin is not significantly worse.": [
        *(row("pre_ln", 6, 70), row("admin", 6, 65, 0.01), row("realformer", 6, 64, 0.01)),
        *(row("pre_ln", 18, 72), row("admin", 18, 71, 0.2, best=True), row("realformer", 18, 80, 0.001, best=True)),
    ],
    "Every family learns; at 6, 18 and 36 layers no family leads beyond chance.": [
        *(row("pre_ln", 6, 60, best=True), row("admin", 6, 61, 0.05, best=True)),
        *(row("pre_ln", 18, 59), row("admin", 18, 58, 0.05)),
        *(row("pre_ln", 36, 58), row("admin", 36, 59, 1.0)),
    ],
    "Every family learns; at 18 layers realformer is best, which is not tested.": [
        row("pre_ln", 6, 70, best=True),
        row("admin", 18, 61),
        row("realformer", 18, 62),
    ],
    "Every family learns, except post_ln at 6 and 18 layers and admin (1 of 3 trainings) at 18 layers; "
    "at 18 layers pre_ln leads beyond chance.": [
        row("pre_ln", 18, 60, best=True),
        row("post_ln", 18, None),
        row("post_ln", 6, None),
        row("admin", 18, 50, 0.001, states="done diverged done"),
    ],
    "No family learns.": [row("post_ln", 18, None), row("admin", 18, None)],
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_who_learns_and_who_leads(sentence: str) -> None:
    assert finding(results(*SENTENCES[sentence])) == sentence


def test_one_seed_shows_nothing_beyond_it() -> None:
    rows = [row("pre_ln", 18, 60, states="done"), row("admin", 18, 66, 0.001, best=True, states="done")]
    assert finding(results(*rows)) == f"Every family learns; at 18 layers admin leads beyond chance; {ONE_SEED}."
    failed = row("post_ln", 18, None, states="stuck stuck")  # at both rates tried
    half = row("admin", 18, 66, 0.001, best=True, states="done stuck")
    for second in (failed, half):
        assert finding(results(rows[0], second)).endswith(f"; {ONE_SEED}.")
    assert ONE_SEED not in finding(results(row("pre_ln", 18, 60), rows[1]))


def test_of_a_metric_whose_lower_scores_are_better_the_lowest_leads() -> None:
    rows = [row("pre_ln", 6, 30), row("admin", 6, 25, 0.001, best=True)]
    rows = [replace(each, scores={"perplexity": each.scores["bleu"]}) for each in rows]
    sentence = finding(replace(results(*rows), metric="perplexity"))
    assert sentence == "Every family learns; at 6 layers admin leads beyond chance."


def test_the_places_on_axes_are_named_and_not_all_of_many() -> None:
    rows = []
    for number in range(1, MOST_CLAUSES + 3):
        axes = {"lr": number / 1000}
        rows += [row("pre_ln", 6, 60, axes=axes), row(f"family{number}", 6, 61, 0.001, axes=axes)]
    rows.append(row("pre_ln", 18, 90, best=True, axes={"lr": 0.001}))
    sentence = finding(results(*rows))
    assert sentence.startswith("Every family learns; at 6 layers (lr 0.001) family1 leads pre_ln beyond chance; at 6")
    assert sentence.endswith("; 2 more outcomes are in the table.")


def test_of_tuned_families_the_chosen_settings_are_compared() -> None:
    tried = [row("pre_ln", 6, 60, axes={"lr": 0.001}), row("admin", 6, 70, 0.001, best=True, axes={"lr": 0.001})]
    tuned_rows = [row("pre_ln", 6, 69, axes={"lr": 0.002}), row("admin", 6, 70, 0.3, axes={"lr": 0.001})]
    tuned = replace(results(*tried), tuned=TunedTable(axes=["lr"], rows=tuned_rows))
    assert finding(tuned) == "Every family learns; at 6 layers no family leads beyond chance."
    failed = row("post_ln", 6, None, axes={"lr": 0.001})  # the first of the rates, which failed all
    stuck = finding(replace(tuned, tuned=TunedTable(axes=["lr"], rows=[*tuned_rows, failed])))
    assert stuck.startswith("Every family learns, except post_ln at 6 layers; ")


def test_it_is_the_first_card() -> None:
    assert quick_page(sample(seeds=2)).xpath("string(//dl[@class='tiles']/div[1]/dd)") == (
        "Every family learns, except post_ln at 18 layers; at 6 layers realformer leads pre_ln beyond chance; "
        "at 18 layers realformer leads beyond chance."
    )
