"""Parser of the command and its subcommands: argparse's, which refuses wrong usage in one line."""

import argparse
from typing import Any, NoReturn

from realformer_nmt.common.errors import UsageError
from realformer_nmt.common.requests.option_choice import not_allowed, suggestion

LAST = "--"  # what follows is for another program
FLAGS = "flags"  # the argument that takes what follows
AFTER = "; a flag of fairseq-train stands at the end, after `--`"


class SubcommandParser(argparse.ArgumentParser):
    """Parser that names the option or the value that may have been meant, and keeps what follows `--` as `flags`."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Cut the tokens at `--`: before Python 3.13, argparse loses what follows a positional argument there."""
        takes_flags = any(action.dest == FLAGS for action in self._actions)
        cut = args.index(LAST) if takes_flags and LAST in args else len(args)
        options, unknown = super().parse_known_args(args[:cut], namespace)
        unknown += getattr(options, FLAGS) if takes_flags else []
        if unknown:
            names = [name.lstrip("-") for name in self._option_string_actions]
            advice = suggestion(unknown[0].lstrip("-"), names, "--")
            kind = "option" if unknown[0].startswith("-") else "argument"
            self.error(f"unknown {kind} {unknown[0]}{advice}{AFTER if takes_flags else ''}")
        if takes_flags:
            setattr(options, FLAGS, args[cut + 1 :])
        return options, []

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[-1] if action.option_strings else action.dest
            raise argparse.ArgumentError(None, not_allowed(name, str(value), [str(each) for each in action.choices]))

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.removeprefix("argument "))
