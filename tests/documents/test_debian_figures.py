"""The page about trainings on Debian's translations has the figures of their records."""

from typing import Any

import pytest
from figures.pages import record, row, says, table

PAGE = "docs/results/debian_en_de/README.md"
UNDER = {"epoch": "\n", "short": "## A third of an epoch"}  # of each record, what stands above its table
EPOCH = record("debian_en_de/epoch")


def trained(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in results["cells"] if cell["state"] in ("done", "stuck")]


@pytest.mark.parametrize("name", UNDER)
def test_what_is_trained(name: str) -> None:
    lines = []
    for cell in trained(record(f"debian_en_de/{name}")):
        scores = [f"{cell['scores'][metric]['score']:.2f}" for metric in ("bleu", "valid_loss") if cell["scores"]]
        speed, hours = f"{cell['tokens_a_second']:,.0f}", f"{cell['hours']:.1f}"
        lines.append(row(f"`{cell['family']}`", cell["depth"], *(scores or [cell["state"], ""]), speed, hours))
    assert table(PAGE, UNDER[name]) == lines


def test_losses_on_the_way() -> None:
    lines = []
    for cell in trained(EPOCH):
        losses = cell["curves"]["valid"]["nll_loss"]
        lines.append(row(f"`{cell['family']}`", cell["depth"], *(f"{loss:.2f}" for loss in losses)))
    assert table(PAGE, "| family | layers | 1,000") == lines


def test_what_depth_reaches() -> None:
    *pre_ln, realformer = trained(EPOCH)
    bleu = [cell["scores"]["bleu"]["score"] for cell in pre_ln]
    says("recipes/debian_en_de/README.md", "has {:.2f} BLEU with 6 layers and {:.2f} with 18".format(*bleu))
    words, (train, valid) = realformer["unigram_entropy"], (realformer["curves"][of] for of in ("train", "valid"))
    assert min(valid["nll_loss"]) > words
    says(PAGE, f"frequencies ({words:.2f} bits)", f"loss falls to {train['nll_loss'][-1]:.2f} bits.")


def test_what_looks_at_the_source() -> None:
    pre_ln, realformer = (model["entropy"]["encoder-decoder"] for model in record("debian_en_de/claims")["trained"])
    says(PAGE, f"the entropy of encoder-decoder attention is {realformer:.2f} bits (Pre-LN: {pre_ln:.2f}).")
