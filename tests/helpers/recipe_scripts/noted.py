"""A recipe with a program that notes what it is asked for, and says in capitals the text that it is to translate."""

import shlex
import subprocess
import sys
from pathlib import Path

from programs.program import REPOSITORY
from recipe_scripts.recipe import write_program
from recipe_scripts.recipe_runs import environment

NOTING = """#!/bin/bash
printf '%%q ' "$@" >> %s; echo >> %s
while (($#)); do
  case $1 in --input) input=$2 ;; --output) output=$2 ;; esac
  shift
done
[[ ! -f $input ]] || { mkdir -p "$output" && tr a-z A-Z < "$input" > "$output/hypotheses.txt"; }
"""


def run(recipe: str, folder: Path, *options: str) -> tuple[int, list[list[str]]]:
    """Its status, and the words of each command. It is given FOLDER/demo, and fills FOLDER/out."""
    noted, program = folder / "noted", folder / "bin" / "realformer-nmt"
    program.parent.mkdir()
    program.write_text(NOTING % (noted, noted))
    program.chmod(0o755)
    write_program(program.with_name("python"), [sys.executable])
    path = f"{program.parent}:{environment()['PATH']}"
    words = [str(REPOSITORY / "recipes" / recipe / "run.sh"), str(folder / "demo"), str(folder / "out"), *options]
    done = subprocess.run(words, env=environment(PATH=path), capture_output=True, check=False)
    return done.returncode, [shlex.split(line) for line in noted.read_text().splitlines()]


def models(words: list[str]) -> list[str]:
    """Return the models of `translate`: the words before the first option."""
    return words[1 : next(place for place, word in enumerate(words) if word.startswith("--"))]
