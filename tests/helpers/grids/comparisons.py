"""A comparison of tiny models on the reversal corpus: two that learn, one that is stuck, one that diverges."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from realformer_nmt.comparison.results import results_file

DIVERGING = """
[[override]]
family = "realformer"
layers = "2-1"
[override.train]
lr = 1e9
"""
GRID = """
families = ["realformer", "post_ln"]
layers = ["1", "2-1"]
protocol = "small"
baseline = "post_ln"
subsets = ["test", "valid"]

[data]
folder = "{data}"
subwords = "none"
reference = "{data}/../test.tgt"
references.valid = "{data}/../valid.tgt"

[train]
encoder-embed-dim = 32
decoder-embed-dim = 32
encoder-ffn-embed-dim = 64
decoder-ffn-embed-dim = 64
warmup-updates = 20
lr = 1e-2
dropout = 0.0
attention-dropout = 0.0
activation-dropout = 0.0
num-workers = 0
log-interval = 5

[budget]
updates = 200
tokens-a-step = 512
max-tokens = 512
average = 1

[failure]
judged_after = 150
stop_early = true

[[override]]
family = "realformer"
layers = "1"
[override.train]
lr = 0.0
end-learning-rate = 0.0
warmup-init-lr = 0.0

{diverging}"""
DONE, STUCK, DIVERGED = ("post_ln-1-s1", "post_ln-2-1-s1"), "realformer-1-s1", "realformer-2-1-s1"
ONLY_STUCK = {
    'families = ["realformer", "post_ln"]': 'families = ["realformer"]',
    'layers = ["1", "2-1"]': 'layers = ["1"]',
    'baseline = "post_ln"': "",
    "judged_after = 150": "judged_after = 5",
    DIVERGING: "",
}
REPOSITORY = Path(__file__).resolve().parents[3]


def write_grid(folder: Path, data: Path, name: str = "grid", more: str = "") -> Path:
    grid = folder / f"{name}.toml"
    grid.write_text(GRID.format(data=data, diverging=DIVERGING) + more)
    return grid


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """`realformer-nmt compare`, in a session of its own, as a terminal's foreground job would be."""
    return subprocess.Popen(
        [sys.executable, "-m", "realformer_nmt.cli", "compare", *map(str, arguments), "--gpus", "0"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # ignored where the tests run in background
    )


def processes_of(folder: Path) -> dict[int, str]:
    """Return the processes whose command names the folder: pid and command."""
    commands = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended
                continue
            if str(folder) in words:
                commands[int(entry.name)] = words
    return commands


def results(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = to_builtins(results_file.read(folder / "results.json"))
    return record


def by_name(record: dict[str, Any]) -> dict[str, Any]:
    return {cell["name"]: cell for cell in record["cells"]}
