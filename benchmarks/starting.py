"""What a command costs before it trains: fairseq-train with and without --user-dir, one update of a tiny model."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from contestants import STOCK

import realformer_nmt

TINY = ["--encoder-embed-dim=32", "--decoder-embed-dim=32", "--encoder-layers=1", "--decoder-layers=1"]


def starter(who: str, data: Path) -> Callable[[], None]:
    """The model is stock's both times, or a family's: with the plug-in, whoever is not called stock."""
    arch = "transformer" if who.startswith(STOCK) else who
    plugin = [] if who == STOCK else ["--user-dir", str(Path(realformer_nmt.__file__).parent)]
    once = [
        "--max-update=1",
        "--save-dir",
        str(data / "checkpoints"),
        "--no-save",
        "--disable-validation",
        "--max-tokens=500",
        "--num-workers=0",
    ]
    options = ["--optimizer=adam", "--lr=1e-3", "--cpu", "--arch", arch, *TINY, *once, *plugin]

    def start() -> None:
        command = [sys.executable, "-m", "fairseq_cli.train", str(data), *options]
        subprocess.run(command, check=True, capture_output=True)

    return start


def binarised(folder: Path) -> Path:
    lines = map(" ".join, np.random.default_rng(1).choice(list("abcdefgh"), (200, 9)))
    text = "\n".join(lines) + "\n"
    for language in ("de", "en"):
        (folder / f"text.{language}").write_text(text)
    prefix = str(folder / "text")
    command = [sys.executable, "-m", "fairseq_cli.preprocess", "--source-lang=en", "--target-lang=de"]
    subprocess.run(
        [*command, "--trainpref", prefix, "--validpref", prefix, "--destdir", str(folder)],
        check=True,
        capture_output=True,
    )
    return folder
