"""Every number that an option of `realformer-nmt` takes, and what nobody means by it: each command works, or ends in
one line, in seconds."""

import argparse
from collections.abc import Iterator

from realformer_nmt import command

VALUES = ("-1", "0", "1", "100000000000", "nan", "inf", "many")
TEXT = "--data data --subwords none --cpu"
BASES = {  # a whole command of each that takes numbers, in the folder of tests/helpers/bad_files.py
    "archs": "",
    "invent": "--folder made",
    "prepare": "--source en --target de --folder made --train ok.en ok.de --subwords moses_bpe --vocabulary 30",
    "sample": "prep --folder made",
    "train": "--data data --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml --dry-run",
    "updates": "data --max-tokens 100 --epochs 1",
    "average": "saved --output made/average.pt",
    "translate": f"good.pt {TEXT} --output out --beam 1 --max-len-b 5",
    "score": "hyp --reference ok.de --output made/run.json --bootstrap 5",
    "evaluate": "good.pt --data data --cpu --output made/test.json",
    "answer": "good.pt --questions ok.en --output made --cpu",
    "serve": f"good.pt {TEXT} --port 0",
    "significance": "a.json c.json --samples 5",
    "analyse": "good.pt --data data --cpu --output made --sentences 3",
    "compare": "grid.toml --folder cells --prepared prep --plan",
}
MORE = {("prepare", option): "--valid ok.en ok.de" for option in ("--workers", "--vocabulary", "--min-length", "--max-length", "--ratio")}
MORE |= {("average", "--until"): "--last 1"}


def options() -> Iterator[tuple[str, str]]:
    """Every subcommand and every option of it that takes a number."""
    names = [row.name for row in command.SUBCOMMANDS]
    for name, parser in command.subparsers(command.parser(names)).items():
        for action in parser._actions:
            yield name, action.option_strings[0]
