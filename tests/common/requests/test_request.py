"""A request against argparse itself: what is written as argv is read back as the same request."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.numbers import HUGE, Number, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request

Pair = tuple[Path, Path]


@dataclass(frozen=True, kw_only=True)
class CookRequest(Request):
    """Cook a meal."""

    subcommand: ClassVar[str] = "cook"
    examples: ClassVar[str] = "example: cook soup"

    dishes: tuple[str, ...] = argument("what to cook")
    output: Path = option("where to")
    portions: int | None = option("how many", None, range=whole(1, 99))
    salt: float = option("grams", 1.5, range=Number(0, HUGE, "0 or more"))
    heat: str = option(default="low", choices=("low", "high"), synonyms={"--fast": "high"})
    course: Literal["first", "main"] = option(default="main")
    spice: str | None = option(default=None, without_value="pepper")
    stir: bool = option("stir it", False)
    cover: bool | None = option(default=None)
    guests: tuple[str, ...] = option(default=(), repeated=True)
    tools: tuple[str, ...] = option(default=("pan",))
    motto: str | None = option(default=None)
    shift: float = option(default=0.0)
    swap: tuple[Pair, ...] = option(default=(), metavar=("THIS", "THAT"))
    gas: bool = option(default=False, either="stove")
    wood: bool = option(default=False, either="stove", group="the stove")


@dataclass(frozen=True, kw_only=True)
class SailRequest(Request):
    """Sail somewhere."""

    where: str = option()
    flags: tuple[str, ...] = argument(default=(), last=True)


def read_sail(*argv: str) -> SailRequest:
    parser = argparse.ArgumentParser()
    SailRequest.add_arguments(parser)
    return SailRequest.from_args(parser.parse_args(argv))


def read(*argv: str) -> CookRequest:
    parser = argparse.ArgumentParser(exit_on_error=False)
    CookRequest.add_arguments(parser)
    return CookRequest.from_args(parser.parse_args(argv))


PLAIN = CookRequest(dishes=("soup",), output=Path("pot"))
REQUESTS = [
    PLAIN,
    replace(PLAIN, dishes=("soup", "fish"), portions=3, salt=0.25, heat="high", course="first"),
    replace(PLAIN, motto="-x", shift=-1e-05),
    replace(PLAIN, motto="- no", shift=-2.5),
    replace(PLAIN, spice="pepper", stir=True, cover=False, guests=("ada", "bo"), tools=("pan", "spoon")),
    replace(PLAIN, swap=((Path("a"), Path("b c")), (Path("d"), Path("e"))), wood=True, cover=True),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_argv_asks_for_the_same(request_: CookRequest) -> None:
    assert read(*request_.argv()) == request_


def test_words_after_the_dashes_are_another_commands() -> None:
    request = SailRequest(where="north", flags=("--dropout", "0.3", "-x"))
    assert request.argv() == ["--where", "north", "--", "--dropout", "0.3", "-x"]
    assert read_sail(*request.argv()) == request
    assert SailRequest.of(where="north", flags="--fast") == replace(request, flags=("--fast",))


def test_argv_leaves_out_what_is_a_default() -> None:
    assert PLAIN.argv() == ["soup", "--output", "pot"]
    assert str(replace(PLAIN, output=Path("big pot"))) == "soup --output 'big pot'"


def test_a_synonym_sets_the_option() -> None:
    assert read("soup", "--output", "pot", "--fast") == replace(PLAIN, heat="high")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"portions": 0}, "--portions 0: allowed is 1 to 99"),
        ({"portions": 100}, "--portions 100: allowed is 1 to 99"),
        ({"salt": -1.0}, "--salt -1.0: allowed is 0 or more"),
        ({"salt": float("nan")}, "--salt nan: allowed is 0 or more"),
        ({"salt": float("inf")}, "--salt inf: allowed is 0 or more"),
        ({"course": "last"}, "--course last is not one of first, main"),
        ({"heat": "hihg"}, "--heat hihg is not one of low, high; did you mean high?"),
    ],
)
def test_what_cannot_be_is_refused_in_python_too(change: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        replace(PLAIN, **change)
    assert str(refused.value) == message


def test_help_is_of_the_class_and_its_fields() -> None:
    parser = argparse.ArgumentParser()
    CookRequest.add_arguments(parser)
    shown = parser.format_help()
    for part in ("Cook a meal.", "example: cook soup", "what to cook", "the stove:", "--no-cover", "--swap THIS THAT"):
        assert part in shown


def test_python_may_give_texts_for_paths_and_one_value_for_several() -> None:
    request = CookRequest.of(dishes="soup", output="pot", swap=[("a", "b")], portions="3", stir=True, spice=True)
    assert request == replace(PLAIN, swap=((Path("a"), Path("b")),), portions=3, stir=True, spice="pepper")
    assert CookRequest.of(dishes=7, output=Path("pot"), salt=2, motto=18) == read(
        *("7", "--output", "pot", "--salt", "2", "--motto", "18")
    )


@pytest.mark.parametrize("swap", [("a", "b c"), ["a", Path("b c")], [("a", "b c")], [["a", "b c"]]])
def test_python_may_give_one_pair_for_several(swap: Any) -> None:
    request = CookRequest.of(dishes="soup", output="pot", swap=swap)
    assert request == read("soup", "--output", "pot", "--swap", "a", "b c")
    assert CookRequest.of(dishes="soup", output="pot", swap=[]) == PLAIN


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dishes": (), "output": "pot"}, "the following arguments are required: dishes"),
        ({"dishes": "", "output": "pot"}, "^dishes '' is empty: give a value"),
        ({"dishes": "soup", "output": None}, "the following arguments are required: --output"),
        ({"dishes": "soup", "output": "pot", "swap": "a"}, "--swap: expected 2 arguments"),
        ({"dishes": "soup", "output": "pot", "stir": "no"}, "unknown argument no"),
        ({"dishes": "soup", "output": "pot", "portions": 2.5}, r"--portions: invalid int value: '2\.5'"),
        ({"dishes": "soup", "output": ""}, "--output: '' names no file and no folder; the current folder is ."),
        ({"dishes": "soup", "output": "pot", "portion": 3}, "option portion is not one of dishes, .*mean portions"),
    ],
)
def test_python_is_told_which_options_there_are(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        CookRequest.of(**options)
