"""The command `realformer-nmt`, and its subcommands that belong to no other room."""

from realformer_nmt.cli.command import main as main
