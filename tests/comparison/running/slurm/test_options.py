"""The options of a grid's [slurm], as sbatch and the job's script have them."""

import signal
import subprocess
import sys

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.running.slurm import options

CELL = """
import signal, sys, time
print("begun", flush=True)
time.sleep(0.3)
signal.signal(signal.SIGUSR2, lambda *_: sys.exit(print("handled") or 3))
time.sleep(50)
"""
OVER = {"slurm_teardown": ["echo over"]}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"timeout_min": 5, "slurm_time": 9}, ["--time=9"]),
        ({"mem_gb": 8}, ["--mem=8GB"]),
        ({"mem_gb": 0.5}, ["--mem=512MB"]),
        ({"tasks_per_node": 1, "slurm_exclusive": True}, ["--ntasks-per-node=1", "--exclusive"]),
        ({"slurm_num_gpus": 2}, ["--gpus-per-node=2"]),
        ({"slurm_additional_parameters": {"mail-user": "a b", "requeue": False}}, ["--mail-user=a b"]),
    ],
)
def test_submitits_names_stand_for_the_same_options(settings: dict[str, object], words: list[str]) -> None:
    argv = options.argv(options.read(settings).sbatch)
    assert set(words) <= set(argv)
    assert ("--requeue" in argv) == ("slurm_additional_parameters" not in settings)


@pytest.mark.parametrize(
    "settings", [{"slurm_setup": "module load"}, {"slurm_array_parallelism": 0}, {"mem_gb": "8"}, {"slurm_poll_s": -1}]
)
def test_values_of_another_kind_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UserError, match=r"\[slurm\] .*: allowed is"):
        options.read(settings)


def test_the_script_starts_the_cell_by_srun_where_srun_has_arguments() -> None:
    srun = options.read({"slurm_srun_args": ["--container-image", "x"], "slurm_setup": ["module load cuda"]})
    script = srun.script(["python", "-m", "a b"]).splitlines()
    (line,) = (line for line in script if line.startswith("srun --unbuffered --container-image x "))
    assert line.endswith("python -m 'a b' & child=$!")
    assert script.index("module load cuda") < script.index(line)


@pytest.mark.parametrize("early", ["setup", "start"])
def test_the_signal_reaches_a_cell_that_does_not_handle_it_yet(early: str) -> None:
    cell = [sys.executable, "-c", CELL]
    begun = {"setup": ["echo begun", "sleep 0.3"]} if early == "setup" else {}
    script = options.read({**{f"slurm_{name}": lines for name, lines in begun.items()}, **OVER}).script(cell)
    with subprocess.Popen(["/bin/bash", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGUSR2)
        output, _ = process.communicate(timeout=60)
    assert output.replace("begun\n", "") == "handled\nover\n"
    assert process.returncode == 3
