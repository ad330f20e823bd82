"""Every option of `realformer-nmt` that takes a number, found in its parsers, and numbers that nobody means by it.

Its test runs them in the folder that tests/helpers/bad_files.py fills.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from realformer_nmt import command
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import Number

VALUES = ("-1", "0", "1", "100000000000", "nan", "inf", "many")
TEXT = "--data data --subwords none --cpu"
BASES = {  # a whole command of each that takes numbers
    "archs": "",
    "invent": "--folder made --pairs 9 --valid 9 --test 9",
    "prepare": "--source en --target de --folder made --train ok.en ok.de --subwords moses_bpe --quiet",
    "sample": "prep --folder made",
    "train": "--data data --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml --dry-run",
    "updates": "data --max-tokens 100 --epochs 1",
    "average": "folder --output average.pt",
    "translate": f"good.pt {TEXT} --output out --beam 1 --max-len-b 5",
    "score": "hyp --reference ok.de --output run.json --bootstrap 0",
    "evaluate": "good.pt --data data --cpu --output test.json --anew",
    "answer": "good.pt --questions ok.en --output made --cpu",
    "serve": f"good.pt {TEXT} --port 0",
    "significance": "a.json grid.json --samples 5",
    "analyse": "good.pt --data data --cpu --output made --sentences 3",
    "compare": "grid.toml --folder cells --prepared prep --plan",
}
MORE = {  # what goes with an option
    "--until": "--last 1",
    **dict.fromkeys(("--workers", "--vocabulary", "--min-length", "--max-length", "--ratio"), "--valid ok.en ok.de"),
}
ENDLESS = "serve"  # which runs until it is ended


class Option(NamedTuple):
    command: str
    name: str
    type: object
    default: object

    def words(self, value: str) -> list[str]:
        return [*self.command.split(), *BASES[self.command].split(), *self.more(), f"{self.name}={value}"]

    def more(self) -> list[str]:
        return MORE.get(self.name, "").split() if self.command in ("average", "prepare") else []

    def takes(self, value: str) -> bool:
        """Whether it is in the option's range, which the command then has to work with."""
        if not isinstance(self.type, Number):
            return False
        try:
            self.type.check(self.name, self.type(value))
        except (ValueError, UserError):
            return False
        return True


def options() -> Iterator[Option]:
    """Of every subcommand, whatever they take."""
    whole = command.parser([row.name for row in command.SUBCOMMANDS])
    (found,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    for name, parser in found.choices.items():
        for action in parser._actions:
            yield Option(name, (action.option_strings or [action.dest])[-1], action.type, action.default)


def numbers() -> list[Option]:
    return [option for option in options() if isinstance(option.type, Number)]
