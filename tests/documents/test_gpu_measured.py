"""Steps that a GPU measured are in docs/performance.md as in the record of benchmarks/gpu.py."""

import json
import re
from typing import Any

from programs.program import REPOSITORY

ROWS = json.loads((REPOSITORY / "docs" / "results" / "gpu_measured.json").read_text())["rows"]
SIZES = ("6L-6L", "18L-18L", "60L-12L")
PAGE = (REPOSITORY / "docs" / "performance.md").read_text().partition("\n**Larger models**")[2].partition("\n## ")[0]
TEXT = " ".join(PAGE.split())


def measured(size: str, model: str, what: str = "training") -> dict[str, Any]:
    return next((row[what] for row in ROWS if (row["size"], row["model"]) == (size, model)), {})


def test_the_table_is_the_records() -> None:
    table = re.findall(r"^\| (\d+L-\d+L) \| (.+) \|$", PAGE, re.MULTILINE)
    expected = []
    for size in SIZES:
        steps = [measured(size, model).get("ms") for model in ("stock", "pre_ln", "realformer")]
        steps += [measured(size, model).get("ms, graph") for model in ("pre_ln", "realformer")]
        expected.append((size, " | ".join(f"{step:.0f}" if step else "not measured" for step in steps)))
    assert table == expected


def test_what_realformer_costs_is_the_record() -> None:
    pre_ln, realformer = (measured("18L-18L", model) for model in ("pre_ln", "realformer"))
    started = [sum(step["launches"].values()) for step in (pre_ln, realformer)]
    assert (
        f"RealFormer at 18L-18L takes {realformer['ms'] / pre_ln['ms']:.2f} times Pre-LN's time, but as a graph "
        f"{realformer['ms, graph'] / pre_ln['ms, graph']:.2f} times: it has {started[1] / started[0]:.2f} times"
    ) in TEXT


def test_shares_of_stocks_time_are_the_records() -> None:
    shares = [measured(size, "pre_ln")["ms"] / measured(size, "stock")["ms"] for size in SIZES]
    assert f"{min(shares):.2f} to {max(shares):.2f} of stock's time" in TEXT
    starting = [1 - measured(size, "pre_ln")["ms, graph"] / measured(size, "pre_ln")["ms"] for size in SIZES]
    assert "About two thirds of that is Python and torch" in TEXT
    assert all(0.56 < share < 0.69 for share in starting)


def test_decoding_is_the_records() -> None:
    stock, realformer, pre_ln = (measured("6L-6L", model, "decoding") for model in ("stock", "realformer", "pre_ln"))
    assert (
        f"took {stock['ms']:.1f} ms in stock ({stock['launches']} launches), {realformer['ms']:.1f} in RealFormer "
        f"({realformer['launches']}) and {pre_ln['ms']:.1f} in Pre-LN ({pre_ln['launches']})."
    ) in TEXT
    paper = json.loads((REPOSITORY / "docs" / "results" / "gpu_on_paper.json").read_text())["rows"]
    (counted,) = (row["decoding"] for row in paper if (row["size"], row["model"]) == ("6L-6L", "pre_ln"))
    assert f"Pre-LN now has {counted['launches']} launches, not yet measured." in TEXT


def test_the_time_of_a_launch_is_the_records() -> None:
    times = [1e3 * row["training"]["ms"] / sum(row["training"]["launches"].values()) for row in ROWS]
    assert f"and {min(times):.0f} to {max(times):.0f} in these steps" in TEXT
