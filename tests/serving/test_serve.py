"""The command line of `realformer-nmt serve`."""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from realformer_nmt import command
from realformer_nmt.corpora.preparation import HYPHENS
from realformer_nmt.corpora.surface import SURFACES
from realformer_nmt.kernels.precision import FORMS
from realformer_nmt.serving import serve
from realformer_nmt.serving.limits import Limits


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_a_missing_extra_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert command.main(["serve", "run"]) == 1
    error = capsys.readouterr().err
    assert error == f"realformer-nmt: serve needs {missing}: pip install 'realformer-nmt[serve]'\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--most-texts", "0"], "--most-texts 0: allowed is 1 or more"),
        (["--most-seconds", "-1"], "--most-seconds -1: allowed is 1 or more"),
        (["--port", "65536"], "--port 65536: allowed is 0 to 65535"),
        (["--port", "-1"], "--port -1: allowed is 0 to 65535"),
        (["--port", "0"], "run: no such file"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["serve", "run", *words]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_every_limit_is_an_option_with_its_default() -> None:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    assert serve.limits_of(parser.parse_args(["run"])) == Limits()
    for number, each in enumerate(fields(Limits), 7):
        option = f"--{each.name.replace('_', '-')}"
        assert vars(serve.limits_of(parser.parse_args(["run", option, str(number)])))[each.name] == number


def test_the_choices_on_offer_are_those_there_are() -> None:
    assert set(serve.PRECISIONS) == FORMS.keys()
    assert set(serve.SUBWORDS) == SURFACES.keys()
    assert serve.HYPHENS == HYPHENS
