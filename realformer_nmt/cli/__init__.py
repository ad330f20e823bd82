"""The command `realformer-nmt`, and its subcommands that belong to no other package."""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; Ctrl-C while its modules are imported ends it with status 130, without a traceback."""
    try:
        from realformer_nmt import subcommands
    except KeyboardInterrupt:
        return 130
    return subcommands.main(argv)
