"""The page about trainings on Debian's translations has the figures of their record."""

from figures.pages import record, row, says, table

PAGE = "docs/results/debian_en_de/README.md"
SHORT = {cell["name"]: cell for cell in record("debian_en_de/short")["cells"] if cell["state"] != "waiting"}


def test_what_is_trained() -> None:
    lines = []
    for cell in SHORT.values():
        scores = [f"{cell['scores'][name]['score']:.2f}" for name in ("bleu", "valid_loss") if cell["scores"]]
        speed, hours = f"{cell['tokens_a_second']:,.0f}", f"{cell['hours']:.1f}"
        lines.append(row(f"`{cell['family']}`", cell["depth"], *(scores or [cell["state"], ""]), speed, hours))
    assert table(PAGE) == lines


def test_who_was_judged_too_early() -> None:
    (stuck,) = [cell for cell in SHORT.values() if cell["state"] == "stuck"]
    loss, words = stuck["evidence"].removeprefix("training loss ").split(" bits a token after 600 updates; ")
    says(PAGE, f"was stopped after 600 updates with a training loss of {loss} bits ({words}).")
