"""The distillation recipe with a program that only notes what it is asked for: what is run, in which order, by whom."""

from pathlib import Path

import pytest
from recipe_scripts.noted import models, run
from recipe_scripts.printed import flags


def test_the_students_differ_in_their_targets_alone(tmp_path: Path) -> None:
    status, commands = run("distillation", tmp_path, "300", "6-2")
    assert status == 0
    stages = ["translate", "prepare", "train", "train", *["translate", "score"] * 3, "significance"]
    assert [words[0] for words in commands] == stages
    translated, prepared, taught, untaught = commands[:4]
    hypotheses, text = str(tmp_path / "out/said/hypotheses.txt"), tmp_path / "demo/text"
    assert flags(translated)["input"] == str(text / "train.en")
    assert prepared[prepared.index("--train") + 1 :][:2] == [str(text / "train.en"), hypotheses]
    assert flags(prepared)["like"] == str(tmp_path / "demo/data")
    places = {"data": str(tmp_path / "out/data/data-bin"), "folder": str(tmp_path / "out/taught")}
    assert flags(taught) == {**flags(untaught), **places}
    assert flags(untaught)["data"] == str(tmp_path / "demo/data/data-bin")
    assert (flags(taught)["layers"], flags(taught)["updates"]) == ("6-2", 300)


@pytest.mark.parametrize("named", [[], ["runs/one"], ["runs/one", "runs/two words"]])
def test_the_teachers_are_one_or_an_ensemble_and_are_scored_as_they_teach(named: list[str], tmp_path: Path) -> None:
    status, commands = run("distillation", tmp_path, *(["750", "12-1", *named] if named else []))
    cells = [str(tmp_path / "demo/cells" / f"{family}-6-s1") for family in ("pre_ln", "admin", "realformer")]
    translated = [models(words) for words in commands if words[0] == "translate"]
    students = [[str(tmp_path / "out" / name)] for name in ("taught", "untaught")]
    assert (status, translated) == (0, [named or cells, named or cells, *students])
