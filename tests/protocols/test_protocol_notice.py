"""The notice names a training's protocol, whose it is, and how that of its family's paper differs."""

from pathlib import Path

import pytest

from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.protocols import protocol_notice
from realformer_nmt.protocols.protocol import load, shipped
from realformer_nmt.tasks import TASKS


@pytest.mark.parametrize(
    ("protocol", "family", "parts"),
    [
        ("realformer", "realformer", ["protocol realformer (He et al. 2021, RealFormer)"]),
        (
            "realformer",
            "post_ln",
            ["--protocol admin (Liu et al. 2020, ADMIN), which differs in epochs, average, lr, "],
        ),
        ("realformer", "deepnorm", ["no protocol here follows a paper on deepnorm"]),
    ],
)
def test_the_line_names_protocol_and_paper(protocol: str, family: str, parts: list[str]) -> None:
    notice = protocol_notice.line(load(protocol, "wmt14_en_de", "18"), family, "wmt14_en_de", "18")
    assert all(part in notice for part in parts), notice
    assert "\n" not in notice
    assert (";" in notice) != (family in load(protocol).families)


@pytest.mark.parametrize("task", TASKS)
def test_a_family_is_of_one_protocol_of_a_task_at_most(task: str) -> None:
    named = [family for name in shipped() for family in load(name).families if load(name).task == task]
    assert len(named) == len(set(named))
    assert set(named) < set(FAMILIES)


def test_the_line_names_protocols_of_the_same_task_alone() -> None:
    assert "--protocol" not in protocol_notice.line(load("bert"), "admin", None, "12")
    assert "for pre_ln there is --protocol bert (He et al." in protocol_notice.line(
        load("small_bert"), "pre_ln", None, "4"
    )


def test_a_changed_protocol_is_not_the_papers(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "realformer"\nepochs = 7\n')
    notice = protocol_notice.line(load(str(file)), "realformer", None, "6")
    assert notice.startswith("protocol mine (of no paper); for realformer there is --protocol realformer (He et al.")
    assert notice.endswith("which differs in epochs")
    file.write_text('base = "realformer"\nprecision = "int8"\n')
    notice = protocol_notice.line(load(str(file)), "realformer", None, "6")
    assert notice.endswith("which differs in nothing that is compared here")
