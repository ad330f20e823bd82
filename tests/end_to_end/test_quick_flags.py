"""Settings are the same with quick_flags as without it, in a Python of its own."""

import subprocess
import sys
from pathlib import Path

from omegaconf import OmegaConf
from programs import quick_flags

WORDS = ("--lr", "0.5,0.25", "--adam-betas", "(0.5, 0.75)", "--optimizer", "adam", "--update-freq", "2,3")
PROGRAM = f"import quick_flags; from omegaconf import OmegaConf; print(OmegaConf.to_yaml(quick_flags.parsed(*{WORDS})))"


def test_the_same_comes_out_time_and_again() -> None:
    changed = quick_flags.parsed(*WORDS)
    changed.optimization.lr[0] = 0.125
    changed.optimizer.lr[0] = 0.125
    folder = Path(quick_flags.__file__).parent
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert OmegaConf.to_yaml(quick_flags.parsed(*WORDS)) in plain
