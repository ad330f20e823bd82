"""A terse parser beside argparse's own: wrong options in one line, and what follows `--` left to another program."""

import pytest

from realformer_nmt.common.errors import UsageError
from realformer_nmt.common.requests.subcommand_parser import SubcommandParser


def parser(terse: bool = True) -> SubcommandParser:
    cook = SubcommandParser(prog="cook")
    cook.terse = terse
    cook.add_argument("dish")
    cook.add_argument("--salt", type=int)
    cook.add_argument("flags", nargs="*")
    return cook


@pytest.mark.parametrize(
    ("words", "salt", "flags"),
    [
        (["soup", "--salt", "2", "--", "--lr", "3", "--"], 2, ["--lr", "3", "--"]),
        (["--salt", "2", "soup", "--"], 2, []),
        (["soup", "--", "x"], None, ["x"]),
    ],
)
def test_what_follows_the_dashes_is_kept_wherever_options_stand(
    words: list[str], salt: int | None, flags: list[str]
) -> None:
    options = parser().parse_args(words)
    assert (options.dish, options.salt, options.flags) == ("soup", salt, flags)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["soup", "--pepper", "1"], "unknown option --pepper; --help lists the options"),
        (["soup", "--salt"], "--salt needs a value; --help lists the options"),
        (["soup", "--salt", "--", "1"], "--salt needs a value; --help lists the options"),
    ],
)
def test_wrong_options_are_told_in_one_line(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parser().parse_args(words)
    assert str(refused.value) == message


def test_another_parser_is_argparses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        parser(terse=False).parse_args(["soup", "--salt"])
    assert exit_info.value.code == 2
    assert "cook: error: argument --salt: expected one argument" in capsys.readouterr().err
