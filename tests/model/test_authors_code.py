"""Our families compute what their authors' code computes from the same weights and inputs.

`make authors-code` runs the authors' code and records its outputs in authors_code/. 1e-5 is some hundred roundings of
fp32, which differ with the order of sums; a wrong formula is off by 1e-2 and more.
"""

import json

import pytest
import torch
from programs.program import REPOSITORY
from same_weights.families import FAMILIES

RECORDS = REPOSITORY / "tests/model/authors_code"


@pytest.mark.parametrize("family", FAMILIES)
def test_ours_computes_what_the_authors_code_does(family: str) -> None:
    expected, outputs = json.loads((RECORDS / f"{family}.json").read_text())["outputs"], FAMILIES[family]()
    assert outputs.keys() == expected.keys()
    for name, output in outputs.items():
        authors = torch.tensor(expected[name])
        torch.testing.assert_close(output, authors, atol=1e-5, rtol=1e-5, msg=lambda text, name=name: f"{name}: {text}")


def test_every_record_is_of_a_family() -> None:
    assert {file.stem for file in RECORDS.iterdir()} == set(FAMILIES)
