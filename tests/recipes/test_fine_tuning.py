"""The fine-tuning recipe with a program that notes what it is asked for: from what, on what, and beside what."""

from pathlib import Path

from recipe_scripts.noted import models, run
from recipe_scripts.printed import flags


def test_each_model_that_is_trained_on_has_one_beside_it_that_is_not(tmp_path: Path) -> None:
    status, commands = run("fine_tuning", tmp_path)
    assert status == 0
    demo, out = tmp_path / "demo", tmp_path / "out"
    trained = {Path(str(flags(words)["folder"])).name: flags(words) for words in commands if words[0] == "train"}
    assert trained.keys() == {"tuned", "scratch", "carried", "own_scratch"}
    before = str(demo / "cells/realformer-6-s1")
    carried = {"from": before, "carry-embeddings": str(demo / "data/data-bin")}
    beginnings = {"tuned": {"from": before}, "carried": carried}
    for (name, begun), other in zip(beginnings.items(), ("scratch", "own_scratch"), strict=True):
        assert trained[name] == {**trained[other], "folder": str(out / name), **begun}
    like, fresh = (flags(words) for words in commands if words[0] == "prepare")
    assert (like["like"], trained["tuned"]["data"]) == (str(demo / "data"), f"{like['folder']}/data-bin")
    assert ("like" in fresh, trained["carried"]["data"]) == (False, f"{fresh['folder']}/data-bin")
    translated = [(*models(words), flags(words)["prepared"]) for words in commands if words[0] == "translate"]
    assert translated[-2:] == [(before, str(demo / "data")), (str(out / "tuned"), str(demo / "data"))]
    assert [words[0] for words in commands[-3:]] == ["significance"] * 3
