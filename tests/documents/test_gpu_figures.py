"""Means of trainings on a GPU are those of their record."""

from statistics import fmean, stdev

from figures.pages import record, row, says, table

PERFORMANCE, MULTI30K = "docs/performance.md", "docs/results/multi30k_128/README.md"
TRAININGS = record("gpu_trainings")["trainings"]


def losses(family: str, update: int) -> list[float]:
    """Return the loss of each seed; the others of ResiDual were stopped in their second epoch."""
    seeds = [1] if family == "resi_dual" else [1, 2, 3]
    trainings = [each["valid"] for each in TRAININGS if each["family"] == family and each["seed"] in seeds]
    return [point["nll_loss"] for points in trainings for point in points if point["update"] == update]


def mean_of(values: list[float]) -> str:
    return f"{fmean(values):.2f} " + (f"± {stdev(values):.2f}" if len(values) == 3 else f"({len(values)})")


def test_losses_of_three_seeds() -> None:
    updates = range(584, 4673, 584)
    families = dict.fromkeys(training["family"] for training in TRAININGS)
    rows = [row(f"`{family}`", *(mean_of(losses(family, update)) for update in updates)) for family in families]
    assert table(MULTI30K, "<!-- table seeds -->") == rows
    says(MULTI30K, f"<!-- table seeds --> {row('family', *updates)}")


def speed(family: str, beside: str) -> str:
    rates = [training["updates_a_second"] for training in TRAININGS if training["family"] == family]
    return f"{fmean(rate[beside] for rate in rates if beside in rate):.1f}"


def test_speeds_beside_other_trainings() -> None:
    rows = [
        row(beside, *(speed(name, beside) for name in ("pre_ln", "admin", "realformer")))
        for beside in ("3", "10", "22")
    ]
    assert table(PERFORMANCE, "(results/gpu_trainings.json)") == rows
    rates = [training["updates_a_second"] for training in TRAININGS]
    lost = max(100 - 100 * rate["10"] / rate["3"] for rate in rates if {"3", "10"} <= rate.keys())
    says(PERFORMANCE, f"seven more trainings cost the others {lost:.0f} % at most")
    assert [beside["layers"] for beside in record("gpu_trainings")["beside"]] == [[36, 36]] * 10
