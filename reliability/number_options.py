"""Every option of `realformer-nmt` that takes a number, found in its requests, and numbers that nobody means by it.

Its test runs them in the folder that tests/helpers/faults/bad_files.py fills.
"""

from dataclasses import Field, fields
from typing import Any, NamedTuple, get_type_hints

from realformer_nmt import subcommands
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import FINITE, Number
from realformer_nmt.common.requests.option import flag_of, spec_of
from realformer_nmt.common.requests.request_argv import FieldType

VALUES = ("-1", "0", "1", "100000000000", "nan", "inf", "many")
TEXT = "--data data --subwords none --cpu"
BASES = {  # a whole command of each that takes numbers
    "archs": "",
    "prepare": "--source en --target de --folder made --train ok.en ok.de --subwords moses_bpe --quiet",
    "sample": "prep --folder made",
    "train": "--data data --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml --dry-run",
    "updates": "data --max-tokens 100 --epochs 1",
    "average": "folder --output average.pt",
    "translate": f"good.pt {TEXT} --output out --beam 1 --max-len-b 5",
    "score": "hyp --reference ok.de --output run.json --bootstrap 0",
    "evaluate": "good.pt --data data --cpu --output test.json --fresh",
    "answer": "good.pt --questions ok.en --output made --cpu",
    "serve": f"good.pt {TEXT} --port 0",
    "significance": "a.json grid.json --samples 5",
    "analyse": "good.pt --data data --cpu --output made --sentences 3",
    "run": "multi30k_en_de --folder made --layers 2 --gpus 0 --dry-run",
    "compare": "grid.toml --folder cells --prepared prep --plan",
}
MORE = {  # what goes with an option
    "--until": "--last 1",
    **dict.fromkeys(("--workers", "--vocabulary", "--min-length", "--max-length", "--ratio"), "--valid ok.en ok.de"),
}
ENDLESS = "serve"  # which runs until it is ended


class Option(NamedTuple):
    command: str
    field: "Field[Any]"
    type: type[int] | type[float]

    @property
    def name(self) -> str:
        return flag_of(self.field)

    @property
    def range(self) -> Number | None:
        return spec_of(self.field).range

    def words(self, value: str) -> list[str]:
        return [*self.command.split(), *BASES[self.command].split(), *self.more(), f"{self.name}={value}"]

    def more(self) -> list[str]:
        return MORE.get(self.name, "").split() if self.command in ("average", "prepare") else []

    def takes(self, value: str) -> bool:
        """Tell whether it is in the option's range, which the command then has to work with."""
        try:
            (self.range or FINITE).check(self.name, self.type(value))
        except (ValueError, UserError):
            return False
        return True


def numbers() -> list[Option]:
    """Return the options of every subcommand that take a number."""
    options = []
    for row in subcommands.SUBCOMMANDS:
        request = subcommands.request_of(row)
        hints = get_type_hints(request)
        for each in fields(request):
            kind = FieldType.of(hints[each.name]).type
            if kind in (int, float):
                options.append(Option(row.name, each, kind))
    return options
