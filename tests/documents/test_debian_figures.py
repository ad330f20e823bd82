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
    (stuck,) = [cell["evidence"].removeprefix("training loss ") for cell in SHORT.values() if cell["state"] == "stuck"]
    says(PAGE, "training loss of {} ({}).".format(*stuck.replace(" a token after 600 updates", "").split("; ")))
