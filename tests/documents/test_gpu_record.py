"""The pages tell of the trainings on a GPU what their record says."""

import json
import re
import statistics

import pytest
from programs.program import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results" / "multi30k_128"
PAGE = (RESULTS / "README.md").read_text()
SPEEDS = (REPOSITORY / "docs" / "performance.md").read_text()
RECORD = json.loads((RESULTS.parent / "gpu_trainings.json").read_text())
TRAININGS = RECORD["trainings"]
SEEDS = {"resi_dual": [1]}  # the others of ResiDual were stopped in their second epoch


def losses(family: str, update: int) -> list[float]:
    return [
        point["nll_loss"]
        for training in TRAININGS
        if training["family"] == family and training["seed"] in SEEDS.get(family, [1, 2, 3])
        for point in training["valid"]
        if point["update"] == update
    ]


def mean_of(values: list[float]) -> str:
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) == 3 else f"{mean} ({len(values)})"


def test_losses_of_three_seeds_are_the_records() -> None:
    head, _, *rows = PAGE.partition("<!-- table seeds -->")[2].partition("<!-- end -->")[0].strip().splitlines()
    updates = [int(number) for number in re.findall(r"\d+", head)]
    families = dict.fromkeys(training["family"] for training in TRAININGS)
    assert rows == [
        f"| `{family}` | " + " | ".join(mean_of(losses(family, update)) for update in updates) + " |"
        for family in families
    ]


@pytest.mark.parametrize(
    ("family", "sentence"),
    [
        ("realformer", "RealFormer is behind by {} bits after 1,168 updates and by {} after 3,504"),
        ("admin", "ADMIN by {} and {}"),
    ],
)
def test_the_lead_shrinks_in_every_seed(family: str, sentence: str) -> None:
    behind = {
        update: [other - pre_ln for pre_ln, other in zip(losses("pre_ln", update), losses(family, update), strict=True)]
        for update in (1168, 3504)
    }
    claim = sentence.format(*(f"{statistics.mean(differences):.2f}" for differences in behind.values()))
    assert claim in " ".join(PAGE.split())
    assert all(later < sooner for sooner, later in zip(*behind.values(), strict=True))


def test_a_slow_seed_of_realformer_has_not_overtaken_pre_ln() -> None:
    assert losses("realformer", 4672)[0] > max(losses("pre_ln", 4672))


def speed(family: str, beside: str) -> str:
    speeds = [training["updates_a_second"] for training in TRAININGS if training["family"] == family]
    return f"{statistics.mean(rates[beside] for rates in speeds if beside in rates):.1f}"


def test_speeds_beside_other_trainings_are_the_records() -> None:
    rows = re.findall(
        r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", SPEEDS.partition("## GPUs")[2], re.MULTILINE
    )
    families = ("pre_ln", "admin", "realformer")
    assert rows == [(beside, *(speed(family, beside) for family in families)) for beside in ("3", "10", "22")]


def test_the_time_of_a_launch_is_the_records() -> None:
    paper = json.loads((RESULTS.parent / "gpu_on_paper.json").read_text())["rows"]
    launches = {row["model"]: row["training"]["launches"] for row in paper if row["size"] == "18L-18L"}
    passes = {family: launches[family]["forward"] + launches[family]["backward"] for family in ("realformer", "pre_ln")}
    low, high = (1e6 / float(speed(family, "3")) / number for family, number in passes.items())
    assert f"needed {low:.0f} to {high:.0f} for each launch" in " ".join(SPEEDS.split())


def test_what_seven_more_trainings_cost_is_the_records() -> None:
    both = [t["updates_a_second"] for t in TRAININGS if {"3", "10"} <= t["updates_a_second"].keys()]
    lost = max(1 - float(speeds["10"]) / float(speeds["3"]) for speeds in both)
    assert f"seven more trainings cost the others {100 * lost:.0f} % at most" in " ".join(SPEEDS.split())


def test_what_ran_beside_the_22_is_the_records() -> None:
    assert [beside["layers"] for beside in RECORD["beside"]] == [[36, 36]] * 10
    assert "Ten of the 22 had 36 layers" in " ".join(SPEEDS.split())
