"""Options that fairseq evaluates as Python: plain values come out as they are, and nothing is run."""

import shlex
import subprocess
from pathlib import Path

import fairseq.optim.adam
import pytest

from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.options.literal_options import evaluate
from realformer_nmt.protocols.command import Substitution, pasted

PLAIN = {  # as fairseq's options have them, and what they mean
    "(0.9, 0.98)": (0.9, 0.98),
    " 0.5 ": 0.5,
    "True": True,
    "{'a': [1, None]}": {"a": [1, None]},
}


@pytest.mark.parametrize("written", PLAIN)
def test_plain_values(written: str) -> None:
    assert evaluate(written) == PLAIN[written]


@pytest.mark.parametrize(
    "written",
    [
        "__import__('os').mkdir('proof')",
        "[].__class__.__base__.__subclasses__()",
        "9 ** 9 ** 9",
        "[0] * 1000000",
        "(" * 5000,
        "1" * 20000,
        "",
    ],
)
def test_anything_else_is_refused_and_runs_nothing(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match="is no plain value"):
        evaluate(written)
    assert list(tmp_path.iterdir()) == []


def test_fairseqs_modules_use_it() -> None:
    assert fairseq.optim.adam.eval is fairseq.utils.eval is evaluate


HOSTILE = ["$(touch proof)", "`touch proof`", "; touch proof", "'; touch proof; '", "a b", "\n", "$HOME", "*", ""]


def test_a_shell_takes_pasted_words_as_they_are(tmp_path: Path) -> None:
    line = pasted(["printf", "%s\\0", *HOSTILE, Substitution(shlex.join(["printf", "%s", "x$(touch proof) y"]))])
    shell = subprocess.run(["/bin/bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shell.stdout.split("\0")[:-1] == [*HOSTILE, "x$(touch proof) y"]
    assert list(tmp_path.iterdir()) == []
