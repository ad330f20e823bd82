"""docs/adding.md as it stands: its module, its commands."""

import re
import shlex
from pathlib import Path

from fixture_types import Command
from programs.program import REPOSITORY

PAGE = (REPOSITORY / "docs/adding.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_a_reader_who_follows_the_page_trains_and_translates(
    fairseq: Command, toy_corpus: Path, tmp_path: Path
) -> None:
    (module,), (commands,) = blocks("python"), blocks("bash")
    folder = tmp_path / "b2t"
    folder.mkdir()
    (folder / "__init__.py").write_text(module)
    lines = commands.replace("\\\n", " ").strip().splitlines()
    words = [shlex.split(line.replace("DATA", str(toy_corpus)).replace("b2t ", f"{folder} ")) for line in lines]
    outputs = []
    for program, *arguments in words:
        places = [str(tmp_path / word) if word.startswith("b2t_checkpoints") else word for word in arguments]
        done = fairseq(program.removeprefix("fairseq-"), *places, "--cpu")
        assert done.returncode == 0, done.stderr[-2000:]
        outputs.append(done.stdout)
    assert "BottomToTop()" in outputs[0]  # fairseq-train prints the model
    assert outputs[1].count("\nH-") == 61  # sentences of the test set
