"""The command of a training of one layer a side, eight wide, which takes seconds."""

from pathlib import Path

from programs import commands

SIZE = ("--encoder-layers", 1, "--decoder-layers", 1, "--encoder-embed-dim", 8, "--decoder-embed-dim", 8)
FIXED = ("--optimizer", "adam", "--lr", 1e-2, "--cpu", "--num-workers", 0, "--disable-validation")


def tiny_training(data: Path, user_dir: Path, *options: object) -> list[str]:
    words = [data, "--user-dir", user_dir, "--arch", "transformer", *SIZE, *FIXED, *options]
    return [*commands.fairseq("train"), *map(str, words)]
