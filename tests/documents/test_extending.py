"""docs/extending.md as it stands: its files, its commands, and what each row then does."""

import csv
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import sacrebleu
from fixture_types import Once
from programs import commands
from programs.program import REPOSITORY

PAGE = (REPOSITORY / "docs/extending.md").read_text()
BLOCK = re.compile(r"```(python|toml|bash)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(once: Once) -> Path:
    """Return what the page makes: a comparison of its family, metric and task, 25 seconds for all tests of the page."""
    return once("extending", follow)


def follow(folder: Path) -> None:
    """Write the page's files and run its commands in the page's order."""
    for language, text in BLOCK.findall(PAGE):
        if language == "bash":
            for line in text.replace("\\\n", " ").splitlines():
                run(shlex.split(line), folder)
        else:
            file = folder / text.splitlines()[0].removeprefix("# ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def run(argv: list[str], folder: Path) -> None:
    program, *arguments = argv
    if program == "python":
        done = commands.run([sys.executable, str(REPOSITORY / arguments[0]), *arguments[1:]], folder=folder)
    else:
        command = commands.OURS if program == "realformer-nmt" else commands.fairseq(program.removeprefix("fairseq-"))
        done = commands.run([*command, *arguments], folder=folder)
    assert done.returncode == 0, f"{shlex.join(argv)}: {done.stderr[-2000:]}"


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "mine-runs/table.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_family_stands_beside_another_at_the_value_of_the_axis(folder: Path) -> None:
    settings = {(row["family"], float(row["clip"])) for row in rows(folder)}
    assert settings == {("pre_ln", 0.5), ("pre_ln_mean", 0.5)}
    for cell in (folder / "mine-runs/cells").iterdir():
        record = json.loads((cell / "train.json").read_text())["made_from"]
        assert record["settings"]["clip_norm"] == float(re.search("clip([0-9.]+)", cell.name)[1])
        assert record["settings"]["score_carry"] == ("mean" if "mean" in cell.name else "none")


def test_the_code_is_among_the_inputs_of_a_training(folder: Path) -> None:
    for record in folder.glob("**/train.json"):
        assert {"axis.py", "letters.py", "my_masked_lm.py"} <= json.loads(record.read_text())["made_from"][
            "inputs"
        ].keys()


def test_the_metric_is_sacrebleus(folder: Path) -> None:
    references = (folder / "text/test.de").read_text().splitlines()
    for cell in (folder / "mine-runs/cells").iterdir():
        hypotheses = (cell / "translation/hypotheses.txt").read_text().splitlines()
        ter = sacrebleu.corpus_ter(hypotheses, [references]).score
        assert json.loads((cell / "run.json").read_text())["scores"]["ter"]["score"] == pytest.approx(ter)


def test_the_column_stands_in_the_table_and_the_report(folder: Path) -> None:
    assert all(float(row["all_hours"]) == float(row["hours"]) * int(row["seeds"]) for row in rows(folder))
    assert "hours, all seeds" in (folder / "mine-runs/report.html").read_text()


def test_the_loss_is_trained_with_its_flag(folder: Path) -> None:
    for cell in (folder / "mine-runs/cells").iterdir():
        settings = json.loads((cell / "train.json").read_text())["made_from"]["settings"]
        assert (settings["criterion"], settings["entropy_weight"]) == ("confidence_penalty", 0.2)


def test_the_subwords_are_letters(folder: Path) -> None:
    tokens = [line.split()[0] for line in (folder / "mine-data/data-bin/dict.de.txt").read_text().splitlines()]
    letters = set((folder / "text/train.en").read_text() + (folder / "text/train.de").read_text()) - {" ", "\n"}
    assert {token for token in tokens if not token.startswith("madeupword")} == letters | {"_"}


def test_the_task_is_trained_and_measured(folder: Path) -> None:
    record = json.loads((folder / "mine-masked/run.json").read_text())
    assert record["task"] == "my_masked_lm"
    assert 0 <= record["scores"]["masked_accuracy"]["score"] <= 100
    assert record["scores"]["perplexity"]["score"] == pytest.approx(2 ** record["measures"]["loss"], rel=1e-3)
