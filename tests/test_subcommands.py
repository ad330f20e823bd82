import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import commands
from programs.program import REPOSITORY, realformer_nmt

from realformer_nmt import subcommands as cli
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import Request

FAILING = """
from dataclasses import dataclass
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.request import Request

@dataclass(frozen=True, kw_only=True)
class REQUEST(Request):
    depth: int | None = option(default=None)

    def run(self):
        raise UserError(f"depth {self.depth} is not one of 6, 12, 18")
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with one subcommand, `fail`."""
    (tmp_path / "failing_subcommand.py").write_text(FAILING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cli, "SUBCOMMANDS", (cli.Subcommand("fail", "fails", "failing_subcommand"),))


@pytest.mark.usefixtures("failing")
def test_a_declared_error_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fail", "--depth", "7"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "realformer-nmt: depth 7 is not one of 6, 12, 18\n"
    assert captured.out == ""


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("words", [["--debug", "fail"], ["fail", "--debug"]])
def test_debug_shows_the_traceback(words: list[str]) -> None:
    with pytest.raises(UserError, match="depth None"):
        cli.main(words)


TRAIN = ["train", "--data", "d", "--folder", "f", "--arch", "realformer", "--layers", "2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "\n    train  "),
        (["trian"], "subcommand trian is not one of 24 names; did you mean train?; --help"),
        (["--dbug"], "unknown option --dbug; did you mean --debug?"),
        (["doctor", "--jsn"], "unknown option --jsn; did you mean --json?"),
        (["prepare", "--subwords", "moses"], "--subwords moses is not one of sentencepiece, moses_bpe; did you mean"),
        ([*TRAIN, "--lr", "0.001"], "unknown option --lr; a flag of fairseq-train stands at the end, after `--`;"),
        ([*TRAIN, "nonsense", "--", "--lr", "0.001"], "unknown argument nonsense; "),
    ],
)
def test_wrong_usage_is_status_2_and_names_what_is_allowed(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused_wherever_a_file_is_wanted(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first has no end."""
    for words in (("compare", path, "--folder", "made"), ("score", "made", "--output", "made", "--reference", path)):
        assert cli.main(words) == 1
        assert capsys.readouterr().err == f"realformer-nmt: {path} is a device: give the name of a file\n"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    translate = ["translate", "made", "--output", "made", "--input"]
    for words in (["inspect"], translate, ["score", "made", "--output", "made", "--reference"]):
        assert cli.main([*words, str(tmp_path / "pipe")]) == 1
        assert "pipe is a pipe, which can be read only once: write it to a file first" in capsys.readouterr().err


def test_help_lists_every_subcommand_and_each_has_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["--help"])
    assert exit_info.value.code == 0
    listed = capsys.readouterr().out
    for row in cli.SUBCOMMANDS:
        assert row.name in listed
        assert row.help in listed
        request = cli.request_of(row)
        assert issubclass(request, Request)
        assert request.subcommand == row.name


@pytest.mark.parametrize("name", [subcommand.name for subcommand in cli.SUBCOMMANDS])
def test_the_help_of_every_subcommand_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        cli.main([name, "--help"])
    assert exit_info.value.code == 0
    assert re.search(rf"examples?:\s+(.* )?\W*realformer-nmt {name}\b", capsys.readouterr().out)


def test_a_subcommand_that_cannot_be_imported_points_to_the_doctor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "SUBCOMMANDS", (cli.Subcommand("archs", "", "realformer_nmt.of_no_such_name"),))
    assert cli.main(["archs"]) == 1
    error = capsys.readouterr().err
    assert "of_no_such_name" in error
    assert "realformer-nmt doctor" in error


def test_user_dir_prints_the_folder_that_fairseq_imports(tmp_path: Path) -> None:
    printed = realformer_nmt("user-dir")
    assert printed.returncode == 0
    folder = printed.stdout.strip()
    assert Path(folder) == REPOSITORY / "realformer_nmt"
    elsewhere = (
        "import argparse; from fairseq.utils import import_user_module;"
        f"import_user_module(argparse.Namespace(user_dir={folder!r}));"
        "from fairseq.models import ARCH_MODEL_REGISTRY; print('realformer_tiny' in ARCH_MODEL_REGISTRY)"
    )
    registered = commands.run([commands.python_of_forks(), "-c", elsewhere], folder=tmp_path)
    assert registered.stdout == "True\n", registered.stderr


def test_a_reader_that_left_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "realformer_nmt.cli", "user-dir"],
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")


# What their --help does import: a fifth of a second
SMALL = {"prepare": ["numpy"], "sample": ["numpy"], "significance": ["numpy", "sacrebleu"]}
COMMANDS = (row.name for row in cli.SUBCOMMANDS if row.name not in SMALL)
HELPS = [["--help"], ["--version"], ["archs"], *([name, "--help"] for name in COMMANDS)]


@pytest.mark.parametrize(
    ("calls", "modules"), [(HELPS, []), *(([[name, "--help"]], modules) for name, modules in SMALL.items())]
)
def test_what_needs_no_model_imports_none(calls: list[list[str]], modules: list[str]) -> None:
    """fairseq takes 3 seconds of the processor, torch 2 of them, sacremoses half a second."""
    heavy = ("torch", "fairseq", "matplotlib", "sacremoses", "fastapi", "pydantic", "uvicorn", "numpy", "sacrebleu")
    heavy += ("sentencepiece", "subword_nmt")
    program = (
        "import contextlib, sys; from realformer_nmt.cli import main\n"
        f"for words in {calls}:\n    with contextlib.suppress(SystemExit):\n        main(words)\n"
        f"print('imported', [name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.endswith(f"imported {modules}\n"), done.stdout + done.stderr
