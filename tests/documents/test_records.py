"""The tables that introduce a record, against the record."""

import json
import re

import pytest
from program import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"
NAMES = sorted(file.parent.name for file in RESULTS.glob("multi30k*/README.md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_score_is_that_of_its_cell(name: str) -> None:
    table = re.findall(r"^\| `(\w+)` \| (\S+)", (RESULTS / name / "README.md").read_text(), re.MULTILINE)
    cells = json.loads((RESULTS / name / "results.json").read_text())["cells"]
    scored = {cell["family"]: cell["scores"].get("bleu") for cell in cells}
    assert dict(table) == {family: f"{found['score']:.2f}" if found else "failed" for family, found in scored.items()}
