"""docs/results/gpu_on_paper.md against the record of benchmarks/gpu.py."""

import json
import re
from typing import Any

from programs.program import REPOSITORY

PAGE = REPOSITORY / "docs" / "results" / "gpu_on_paper.md"
SUMMARY = (REPOSITORY / "docs" / "performance.md").read_text().partition("\n## GPUs\n")[2].partition("\n## ")[0]


def numbers(row: dict[str, Any]) -> list[str]:
    training, decoding = row["training"], row["decoding"]
    return [
        f"{training['flops'] / 1e12:.2f}",
        " + ".join(f"{number:,}" for number in training["launches"].values()),
        f"{training['waits']}",
        f"{training['bytes'] / 1e9:.0f}",
        f"{training['peak bytes'] / 1e9:.1f}",
        *(f"{milliseconds:.0f}" for milliseconds in training["ms at the limits"].values()),
        f"{training['ms of launches']:.0f}",
        f"{decoding['launches']:,}",
        *(f"{milliseconds:.2f}" for milliseconds in decoding["ms at the limits"].values()),
        f"{decoding['ms of launches']:.1f}",
    ]


def test_every_number_of_the_tables_is_the_records() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    sections = re.split(r"^### (\d+L-\d+L)$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    shown = {}
    for size, section in zip(sections[::2], sections[1::2], strict=True):
        for model, rest in re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE):
            shown[size, model] = rest.split(" | ")
    assert shown == {(row["size"], row["model"]): numbers(row) for row in record["rows"]}
    assert {model for _, model in shown} >= {"stock", "post_ln", "pre_ln"}


def test_it_is_called_an_estimate() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    assert "estimate" in record["what"]
    assert "estimate" in PAGE.read_text().partition("\n## ")[0]
    assert "estimate" in SUMMARY


def test_what_the_summary_says_of_post_ln_is_the_records() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    (row,) = (row for row in record["rows"] if (row["size"], row["model"]) == ("6L-6L", "post_ln"))
    *_, a100, h100, launching, _, _, work, _ = numbers(row)
    claim = f"H100 at least {h100} ms, an A100 {a100} ms, and launching its operations {launching} ms"
    (stock,) = (row for row in record["rows"] if (row["size"], row["model"]) == ("6L-6L", "stock"))
    assert f"{claim}; stock's {stock['training']['ms of launches']:.0f} ms" in " ".join(SUMMARY.split())
    assert f"Decoding is nearly all launching: {float(work):.1f} ms of work in each step at 6L-6L" in " ".join(
        SUMMARY.split()
    )


def test_what_the_summary_says_of_launches_is_the_records() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    launches = {row["model"]: row["training"]["launches"] for row in record["rows"] if row["size"] == "18L-18L"}
    post_ln, stock = (sum(launches[model].values()) for model in ("post_ln", "stock"))
    assert f"in {10 * launches['stock']['optimiser'] / stock:.0f} of 10 launches" in " ".join(SUMMARY.split())
    assert f"a step of `post_ln` has {post_ln:,} launches, stock's has {stock:,}." in " ".join(SUMMARY.split())


def test_what_the_summary_says_of_memory_is_the_records() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    peaks = {(row["model"], row["size"]): row["training"]["peak bytes"] / 1e9 for row in record["rows"]}
    pre_ln, stock = ([peaks[model, size] for size in ("6L-6L", "18L-18L", "60L-12L")] for model in ("pre_ln", "stock"))
    claim = "needs {:.1f} GB at 6L-6L, {:.1f} at 18L-18L and {:.1f} at 60L-12L, stock {:.1f}, {:.1f} and {:.1f}"
    assert claim.format(*pre_ln, *stock) in " ".join(SUMMARY.split())


def test_what_realformer_costs_beside_admin_is_the_records() -> None:
    record = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())
    trainings = {(row["size"], row["model"]): row["training"] for row in record["rows"]}
    pairs = [(trainings[size, "realformer"], trainings[size, "admin"]) for size in ("6L-6L", "18L-18L", "60L-12L")]
    memory = [(more["peak bytes"] - less["peak bytes"]) / 1e9 for more, less in pairs]
    name = "ms at the limits"
    time = [more[name][chip] / less[name][chip] - 1 for more, less in pairs for chip in more[name]]
    assert f"{min(memory):.1f} to {max(memory):.1f} GB more than ADMIN" in " ".join(SUMMARY.split())
    assert f"with no time for launching, {100 * min(time):.0f} to {100 * max(time):.0f} % more time" in " ".join(
        SUMMARY.split()
    )
