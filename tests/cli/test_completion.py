"""Bash itself completes subcommands, options and values."""

import subprocess

import pytest
from programs import commands

WORDS = {
    "realformer-nmt tra": ["train", "translate"],
    "realformer-nmt compare --st": ["--status"],
    "realformer-nmt train --precision ": ["fp16", "bf16", "fp32", "auto"],
}
ASKED = """
source "$1"
COMP_WORDS=($2) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[[ $2 != *' ' ]] || { COMP_WORDS+=(''); COMP_CWORD=$((COMP_CWORD + 1)); }
function=$(complete -p realformer-nmt | grep -o -- '-F [^ ]*')
${function#-F }
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = commands.run([*commands.OURS, "completion", "bash"])
    assert done.returncode == 0, done.stderr
    file = tmp_path_factory.mktemp("completion") / "script"
    file.write_text(done.stdout)
    return str(file)


@pytest.mark.parametrize(("typed", "completed"), WORDS.items())
def test_subcommands_options_and_values_are_completed(typed: str, completed: list[str], script: str) -> None:
    done = subprocess.run(["/bin/bash", "-c", ASKED, "bash", script, typed], capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed
