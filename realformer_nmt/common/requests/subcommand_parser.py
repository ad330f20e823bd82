"""Parser of a subcommand: argparse's, or for a subcommand that scripts wrap a terse one."""

import argparse
import re
from typing import Any, NoReturn

from realformer_nmt.common.errors import UsageError

WITHOUT_VALUE = re.compile("argument (--[a-z-]+): expected one argument")
LAST = "--"  # what follows is for another program


class SubcommandParser(argparse.ArgumentParser):
    """Parser that, if `terse`, refuses wrong options in one line, and keeps what follows `--` as `flags`."""

    terse = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Cut the tokens at `--`: before Python 3.13, argparse loses what follows a positional argument there."""
        if not self.terse:
            return super().parse_known_args(args, namespace)
        cut = args.index(LAST) if LAST in args else len(args)
        options, unknown = super().parse_known_args(args[:cut], namespace)
        if unknown:
            raise UsageError(f"unknown option {unknown[0]}")
        options.flags = args[cut + 1 :]
        return options, []

    def error(self, message: str) -> NoReturn:
        without_value = WITHOUT_VALUE.fullmatch(message)
        if self.terse and without_value:
            raise UsageError(f"{without_value[1]} needs a value")
        super().error(message)
