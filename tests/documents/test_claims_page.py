"""docs/results/claims.md and its tables hold what the record says, and its script, run in small, writes both."""

import json
import re
import sys
from pathlib import Path

import untrained_models
from claims import ClaimsRecord, needed, table
from figures.pages import record, says
from fixture_types import Once
from msgspec import convert
from programs import commands
from programs.program import REPOSITORY
from tiny_models import analysed

from realformer_nmt.analysis.claims import CLAIMS, TrainedModel

PAGE = "docs/results/claims.md"
MEASURED = convert(record("claims"), ClaimsRecord)
TABLE = re.compile(r"<!-- table (\w+) -->\n\n(.*?)\n<!-- end -->", re.DOTALL)


def test_how_many_comparisons_agree() -> None:
    rows = [line.split(" | ") for line in table(MEASURED).splitlines()[2:]]
    assert {row[1] for row in rows} == {claim.predicted for claim in (*untrained_models.CLAIMS, *CLAIMS)}
    says(PAGE, f"Of {len(rows)} comparisons {sum(row[-1] == 'yes |' for row in rows)} agree")


def test_the_command_writes_record_and_page(once: Once, toy_corpus: Path, tmp_path: Path) -> None:
    filled = once("analysis", analysed.Analysis(once("analysed_models", analysed.Models(toy_corpus))))
    page, file = tmp_path / "claims.md", tmp_path / "claims.json"
    page.write_text("before\n<!-- table claims -->\n\nold\n<!-- end -->\nafter\n<!-- table needed -->\n<!-- end -->\n")
    words = [sys.executable, REPOSITORY / "docs/results/scripts/claims.py", filled / "analysis.json"]
    words += ["--record", file, "--page", page, "--depths", 1, 2, "--seeds", 1]
    done = commands.run(list(map(str, words)), environment={"PYTHONPATH": str(REPOSITORY)})
    assert done.returncode == 0, done.stderr
    written = json.loads(file.read_text())
    measured = convert(written, ClaimsRecord)
    tables = dict(TABLE.findall(page.read_text()))
    assert tables == {"claims": table(measured), "needed": needed(measured)}
    assert page.read_text().startswith("before\n<!-- table claims -->\n\n| paper |")
    assert "<!-- end -->\nafter\n<!-- table needed -->\n\n| layers |" in page.read_text()
    assert {(row["family"], row["layers"]) for row in written["start"]} == {
        (family, layers) for family in ("post_ln", "pre_ln", "admin", "resi_dual") for layers in (1, 2)
    }
    assert [row["family"] for row in written["trained"]] == ["realformer_tiny", "pre_ln_tiny"]
    (origin,) = written["made_from"]["trained"]
    assert origin["sha256"].keys() >= {"run.pt", "pre.pt"}
    assert str(toy_corpus.parent) not in file.read_text()  # no places


def test_layers_that_are_needed() -> None:
    losses = {"encoder": [0.5, 0.0, 0.021, -0.1], "decoder": [0.02, 0.3, 0.3, 0.3]}
    lines = needed(ClaimsRecord(trained=[TrainedModel(family="a", layers=4, left_out=losses)])).splitlines()
    assert lines[-1] == "| 4 | `a` | 2 | 3 |"
