"""The command `realformer-nmt`, and its subcommands that belong to no other package."""

from realformer_nmt.subcommands import main as main
