"""[slurm] of a grid: sbatch's long options by their own names, five keys of ours, and the script of the job."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert

from realformer_nmt.common.errors import UserError

USUAL = {"requeue": True, "open-mode": "append", "signal": "B:USR2@90"}  # options of sbatch


class SlurmOptions(Struct, frozen=True, kw_only=True, rename="kebab"):
    """Options of the jobs of a comparison, and how often the queue is asked for them."""

    sbatch: dict[str, str | int | float | bool] = {}
    at_once: Annotated[int, Meta(ge=1)] = 256  # tasks of an array
    poll: Annotated[float, Meta(gt=0)] = 180.0  # seconds between two questions to the queue, at most
    setup: tuple[str, ...] = ()  # lines of the script
    teardown: tuple[str, ...] = ()
    srun: tuple[str, ...] | None = None  # arguments of srun, where the cell is started by it

    @property
    def prefix(self) -> str:
        """Return what stands before the names of the cells in the names of the jobs."""
        return f"{self.sbatch['job-name']}-" if "job-name" in self.sbatch else ""

    def script(self, command: list[str], arguments: Sequence[str]) -> str:
        """Return the job's script, which adds to the command the argument of the array's task.

        SLURM sends the signal before the time limit to its shell, which sends it on every second: the command ignores
        the signal until it handles it.
        """
        srun = ("srun", "--unbuffered", *self.srun) if self.srun is not None else ()
        words = shlex.join([*srun, "sh", "-c", "trap '' USR2; exec \"$@\"", "sh", *command])
        lines = [
            "#!/bin/bash",
            "export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}  # since 22.05 srun inherits none",
            'send() { [ "${child-}" ] && sleep 1 && kill -USR2 "$child" 2> /dev/null; }',
            "trap 'signalled=1; while send; do :; done' USR2",
            f"arguments=({shlex.join(arguments)})",
            *self.setup,
            f'{words} "${{arguments[$SLURM_ARRAY_TASK_ID]}}" & child=$!',
            'if [ "${signalled-}" ]; then kill -USR2 $$; fi',
            'while kill -0 "$child" 2> /dev/null; do wait "$child"; done',
            'wait "$child"; status=$?',
            *self.teardown,
            "exit $status",
        ]
        return "\n".join([*lines, ""])


OURS = {name for name in SlurmOptions.__struct_encode_fields__ if name != "sbatch"}


def read(settings: Mapping[str, object]) -> SlurmOptions:
    """Return the options that the [slurm] of a grid gives; sbatch refuses those that it does not know."""
    sbatch = {name: value for name, value in settings.items() if name not in OURS}
    try:
        return convert({**settings, "sbatch": {**USUAL, **sbatch}}, SlurmOptions)
    except ValidationError as error:
        raise UserError(f"[slurm]: {error}") from error


def argv(sbatch: Mapping[str, object]) -> list[str]:
    """Return options of sbatch as it is called with them; true is an option without a value, false leaves one out."""
    shown = {name: value for name, value in sbatch.items() if value is not False}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in shown.items()]
