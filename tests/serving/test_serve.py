"""The command line of `realformer-nmt serve`."""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from programs import argv

from realformer_nmt import subcommands
from realformer_nmt.serving.serve import Limits, ServeRequest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--most-texts", "0"], "--most-texts 0: allowed is 1 or more"),
        (["--port", "65536"], "--port 65536: allowed is 0 to 65535"),
        (["--port", "0"], "run: no such file or folder; give an existing one"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert subcommands.main(["serve", "run", *words]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_every_limit_is_an_option_with_its_default() -> None:
    assert argv.read(ServeRequest, "run").limits() == Limits()
    for number, each in enumerate(fields(Limits), 7):
        option = f"--{each.name.replace('_', '-')}"
        assert argv.read(ServeRequest, "run", option, number).limits() == replace(Limits(), **{each.name: number})
