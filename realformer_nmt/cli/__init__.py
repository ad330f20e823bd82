"""The command `realformer-nmt`, and its subcommands that belong to no other package."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; Ctrl-C while its modules are imported ends it as it does later, without a traceback."""
    try:
        from realformer_nmt import subcommands
    except KeyboardInterrupt:
        print("realformer-nmt: interrupted", file=sys.stderr)
        return 1
    return subcommands.main(argv)
