"""The distillation recipe with a program that only notes what it is asked for: what is run, in which order, by whom."""

import shlex
import subprocess
from pathlib import Path

import pytest
from printed import flags
from program import REPOSITORY
from recipe_runs import environment

SCRIPT = REPOSITORY / "recipes" / "distillation" / "run.sh"
NOTING = '#!/bin/bash\nprintf "%%q " "$@" >> %s; echo >> %s\n[[ $1 != "$FAILING" ]]\n'


def run(folder: Path, *options: str, failing: str = "") -> tuple[int, list[list[str]]]:
    """Its status, and the words of each command."""
    noted, program = folder / "noted", folder / "bin" / "realformer-nmt"
    program.parent.mkdir()
    program.write_text(NOTING % (noted, noted))
    program.chmod(0o755)
    path = f"{program.parent}:{environment()['PATH']}"
    words = [str(SCRIPT), str(folder / "demo"), str(folder / "out"), *options]
    done = subprocess.run(words, env=environment(PATH=path, FAILING=failing), capture_output=True, check=False)
    return done.returncode, [shlex.split(line) for line in noted.read_text().splitlines()]


def models(words: list[str]) -> list[str]:
    """Of `translate`: what stands before the first option."""
    return words[1 : next(place for place, word in enumerate(words) if word.startswith("--"))]


def test_the_students_differ_in_their_targets_alone(tmp_path: Path) -> None:
    status, asked = run(tmp_path, "300", "6-2")
    assert status == 0
    stages = ["translate", "prepare", "train", "train", *["translate", "score"] * 3, "significance"]
    assert [words[0] for words in asked] == stages
    translated, prepared, taught, untaught = asked[:4]
    said, text = str(tmp_path / "out/said/hypotheses.txt"), tmp_path / "demo/text"
    assert flags(translated)["input"] == str(text / "train.en")
    assert prepared[prepared.index("--train") + 1 :][:2] == [str(text / "train.en"), said]
    assert flags(prepared)["like"] == str(tmp_path / "demo/data")
    places = {"data": str(tmp_path / "out/data/data-bin"), "folder": str(tmp_path / "out/taught")}
    assert flags(taught) == {**flags(untaught), **places}
    assert flags(untaught)["data"] == str(tmp_path / "demo/data/data-bin")
    assert (flags(taught)["layers"], flags(taught)["updates"]) == ("6-2", 300)


@pytest.mark.parametrize("named", [[], ["runs/one"], ["runs/one", "runs/two words"]])
def test_the_teachers_are_one_or_an_ensemble_and_are_scored_as_they_teach(named: list[str], tmp_path: Path) -> None:
    status, asked = run(tmp_path, *(["750", "12-1", *named] if named else []))
    cells = [str(tmp_path / "demo/cells" / f"{family}-6-s1") for family in ("pre_ln", "admin", "realformer")]
    translated = [models(words) for words in asked if words[0] == "translate"]
    students = [[str(tmp_path / "out" / name)] for name in ("taught", "untaught")]
    assert (status, translated) == (0, [named or cells, named or cells, *students])


def test_nothing_is_trained_on_what_no_teacher_said(tmp_path: Path) -> None:
    status, asked = run(tmp_path, failing="translate")
    assert (status != 0, [words[0] for words in asked]) == (True, ["translate"])
