"""Figures of trainings and steps on a GPU, in sentences and in tables of means, are those of their records."""

from statistics import fmean, stdev
from typing import Any

from figures.pages import record, row, says, span, table

PERFORMANCE, MULTI30K = "docs/performance.md", "docs/results/multi30k_128/README.md"
SIZES = ("6L-6L", "18L-18L", "60L-12L")
TRAININGS = record("gpu_trainings")["trainings"]
ON_PAPER, MEASURED = (
    {(row["size"], row["model"]): row for row in record(name)["rows"]} for name in ("gpu_on_paper", "gpu_measured")
)
STEPS = {key: row["training"] for key, row in MEASURED.items()}
ESTIMATES = {key: row["training"] for key, row in ON_PAPER.items()}


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


def behind(family: str, update: int) -> float:
    return fmean(losses(family, update)) - fmean(losses("pre_ln", update))


def test_how_far_families_are_behind_pre_ln() -> None:
    says(
        MULTI30K,
        f"RealFormer is behind by {behind('realformer', 1168):.2f} bits after 1,168 updates and by "
        f"{behind('realformer', 3504):.2f} after 3,504",
        f"ADMIN by {behind('admin', 1168):.2f} and {behind('admin', 3504):.2f}",
    )


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


def test_the_time_of_a_launch() -> None:
    launches = {family: ESTIMATES["18L-18L", family]["launches"] for family in ("realformer", "pre_ln")}
    small = [1e6 / float(speed(family, "3")) / (n["forward"] + n["backward"]) for family, n in launches.items()]
    steps = [1e3 * step["ms"] / sum(step["launches"].values()) for step in STEPS.values()]
    says(
        PERFORMANCE,
        f"needed {span(small, '.0f')} for each launch in the small trainings above, and {span(steps, '.0f')} in these",
    )


def test_measured_steps() -> None:
    pre_ln, realformer = (STEPS["18L-18L", model] for model in ("pre_ln", "realformer"))
    started = [sum(step["launches"].values()) for step in (pre_ln, realformer)]
    decoding = {model: MEASURED["6L-6L", model]["decoding"] for model in ("stock", "realformer", "pre_ln")}
    stock, carried, norm_first = decoding.values()
    says(
        PERFORMANCE,
        f"RealFormer at 18L-18L takes {realformer['ms'] / pre_ln['ms']:.2f} times Pre-LN's time, but as a graph "
        f"{realformer['ms, graph'] / pre_ln['ms, graph']:.2f} times: it has {started[1] / started[0]:.2f} times",
        f"{span(STEPS[size, 'pre_ln']['ms'] / STEPS[size, 'stock']['ms'] for size in SIZES)} of stock's time",
        f"took {stock['ms']:.1f} ms in stock ({stock['launches']} launches), {carried['ms']:.1f} in RealFormer "
        f"({carried['launches']}) and {norm_first['ms']:.1f} in Pre-LN ({norm_first['launches']}).",
        f"Pre-LN now has {ON_PAPER['6L-6L', 'pre_ln']['decoding']['launches']} launches, not yet measured.",
    )


def test_estimated_steps() -> None:
    post_ln, stock = (ESTIMATES["6L-6L", model] for model in ("post_ln", "stock"))
    launches = {model: ESTIMATES["18L-18L", model]["launches"] for model in ("post_ln", "stock")}
    of_package, of_stock = (sum(each.values()) for each in launches.values())
    memory = [
        "{:.1f}".format(ESTIMATES[size, model]["peak bytes"] / 1e9) for model in ("pre_ln", "stock") for size in SIZES
    ]
    limits = post_ln["ms at the limits"]
    says(
        PERFORMANCE,
        f"H100 at least {limits['H100']:.0f} ms, an A100 {limits['A100']:.0f} ms, and launching its operations "
        f"{post_ln['ms of launches']:.0f} ms; stock's {stock['ms of launches']:.0f} ms",
        f"{ON_PAPER['6L-6L', 'post_ln']['decoding']['ms at the limits']['H100']:.1f} ms of work in each step at 6L-6L",
        f"in {10 * launches['stock']['optimiser'] / of_stock:.0f} of 10 launches",
        f"a step of `post_ln` has {of_package:,} launches, stock's has {of_stock:,}.",
        "needs {} GB at 6L-6L, {} at 18L-18L and {} at 60L-12L, stock {}, {} and {}".format(*memory),
    )


def test_what_realformer_costs_beside_admin() -> None:
    pairs: list[tuple[Any, Any]] = [(ESTIMATES[size, "realformer"], ESTIMATES[size, "admin"]) for size in SIZES]
    memory = [(more["peak bytes"] - less["peak bytes"]) / 1e9 for more, less in pairs]
    limits = [(more["ms at the limits"], less["ms at the limits"]) for more, less in pairs]
    times = [100 * more[chip] / less[chip] - 100 for more, less in limits for chip in more]
    says(
        PERFORMANCE,
        f"{span(memory, '.1f')} GB more than ADMIN and, with no time for launching, {span(times, '.0f')} % more time",
    )
