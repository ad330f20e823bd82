"""The options of a grid's [slurm], as sbatch and the job's script have them."""

import os
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
signal.signal(signal.SIGUSR2, lambda *_: sys.exit(print(sys.argv[1]) or 3))
time.sleep(50)
"""
OVER = {"teardown": ["echo over"]}


def test_other_keys_are_options_of_sbatch() -> None:
    settings = {"mem": "8G", "time": 9, "exclusive": True, "requeue": False, "mail-user": "a b", "at-once": 2}
    argv = options.argv(options.read(settings).sbatch)
    assert {"--mem=8G", "--time=9", "--exclusive", "--mail-user=a b", "--signal=B:USR2@90"} <= set(argv)
    assert not any(word.startswith(("--requeue", "--at-once")) for word in argv)


@pytest.mark.parametrize("settings", [{"setup": "module load"}, {"at-once": 0}, {"mem": ["8G"]}, {"poll": -1}])
def test_values_of_another_type_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UserError, match=rf"^\[slurm\]: Expected .* at .*{next(iter(settings))}|at `\$\.sbatch"):
        options.read(settings)


def test_the_script_starts_the_cell_by_srun_where_srun_has_arguments() -> None:
    srun = options.read({"srun": ["--container-image", "x"], "setup": ["module load cuda"]})
    script = srun.script(["python", "-m", "a b"], ["one", "two"]).splitlines()
    (line,) = (line for line in script if line.startswith("srun --unbuffered --container-image x "))
    assert line.endswith("python -m 'a b' \"${arguments[$SLURM_ARRAY_TASK_ID]}\" & child=$!")
    assert script.index("module load cuda") < script.index(line)


@pytest.mark.parametrize("early", ["setup", "start"])
def test_the_signal_reaches_a_cell_that_does_not_handle_it_yet(early: str) -> None:
    cell = [sys.executable, "-c", CELL]
    begun = {"setup": ["echo begun", "sleep 0.3"]} if early == "setup" else {}
    script = options.read({**begun, **OVER}).script(cell, ["another", "of the task"])
    task = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    with subprocess.Popen(["/bin/bash", "-c", script], env=task, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGUSR2)
        output, _ = process.communicate(timeout=60)
    assert output.replace("begun\n", "") == "of the task\nover\n"
    assert process.returncode == 3
