"""Wrong usage in one line, and what follows `--` left to another program."""

import pytest

from realformer_nmt.common.errors import UsageError
from realformer_nmt.common.requests.subcommand_parser import SubcommandParser


def parser() -> SubcommandParser:
    cook = SubcommandParser(prog="cook")
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
        (["soup", "--pepper", "1"], "unknown option --pepper; a flag of fairseq-train stands at the end, after `--`"),
        (["soup", "--slat", "1"], "unknown option --slat; did you mean --salt?; a flag of"),
        (["soup", "--salt"], "--salt: expected one argument; --help lists the options"),
        (["soup", "--salt", "--", "1"], "--salt: expected one argument"),
        (["soup", "--salt", "much"], "--salt: invalid int value: 'much'"),
    ],
)
def test_wrong_options_are_told_in_one_line(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parser().parse_args(words)
    assert str(refused.value).startswith(message)
