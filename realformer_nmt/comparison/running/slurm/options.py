"""[slurm] of a grid: options of sbatch and lines of the job's script, under the names that submitit gave them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed

PREFIX = "slurm_"  # which may be left out of SHORT alone
SHORT = {  # options of sbatch by their short names
    "timeout_min": "time",
    "nodes": "nodes",
    "cpus_per_task": "cpus-per-task",
    "gpus_per_node": "gpus-per-node",
    "tasks_per_node": "ntasks-per-node",
    "mem_gb": "mem",
}
OF_SBATCH = (
    *("partition", "time", "ntasks_per_node", "cpus_per_gpu", "gpus_per_task", "qos", "mem", "mem_per_gpu"),
    *("mem_per_cpu", "comment", "constraint", "exclude", "account", "gres", "mail_type", "mail_user", "nodelist"),
    *("dependency", "exclusive", "wckey"),
)
OURS = {  # what is no option of sbatch, with the types of its values
    "name": (str,),
    "job_name": (str,),
    "num_gpus": (int,),  # per node
    "signal_delay_s": (int,),
    "array_parallelism": (int,),
    "poll_s": (int, float),
    "stderr_to_stdout": (bool,),
    "setup": (list,),
    "teardown": (list,),
    "srun_args": (list,),
    "use_srun": (bool,),
    "additional_parameters": (dict,),
}
WITHOUT_PREFIX = (*SHORT, "name", "stderr_to_stdout")
ALLOWED = (*WITHOUT_PREFIX, *(PREFIX + name for name in (*SHORT, *OF_SBATCH, *OURS)))
SCALARS = (str, int, float, bool)


@dataclass(frozen=True)
class SlurmOptions:
    """Options of the jobs of a comparison, and how often the queue is asked for them."""

    sbatch: dict[str, object] = field(default_factory=dict)  # by their names without dashes before
    name: str | None = None  # stands before the names of the cells
    at_once: int = 256  # tasks of an array
    poll: float = 180.0  # seconds between two questions to the queue, at most
    setup: tuple[str, ...] = ()  # lines of the script
    teardown: tuple[str, ...] = ()
    srun: tuple[str, ...] | None = None  # arguments of srun, where the cell is started by it
    separate_errors: bool = False

    def script(self, command: list[str]) -> str:
        """Return the job's script.

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
            *self.setup,
            f"{words} & child=$!",
            'if [ "${signalled-}" ]; then kill -USR2 $$; fi',
            'while kill -0 "$child" 2> /dev/null; do wait "$child"; done',
            'wait "$child"; status=$?',
            *self.teardown,
            "exit $status",
        ]
        return "\n".join([*lines, ""])


def read(settings: Mapping[str, object]) -> SlurmOptions:
    """Return the options that the [slurm] of a grid gives."""
    for key in settings:
        if key not in ALLOWED:
            raise UserError(not_allowed("[slurm]", key, ALLOWED))
    values = {key.removeprefix(PREFIX): value for key, value in settings.items()}
    for name, value in values.items():
        check_type(name, value)
    delay = values.get("signal_delay_s", 90)
    sbatch: dict[str, object] = {"requeue": True, "open-mode": "append", "signal": f"B:USR2@{delay}"}
    sbatch |= {option: values[name] for name, option in SHORT.items() if name in values}
    sbatch |= {"mem": memory(values["mem_gb"])} if "mem_gb" in values else {}
    sbatch |= {"gpus-per-node": values["num_gpus"]} if "num_gpus" in values else {}
    sbatch |= {name.replace("_", "-"): values[name] for name in OF_SBATCH if name in values}
    sbatch |= table(values.get("additional_parameters", {}))
    srun = strings(values, "srun_args")
    return SlurmOptions(
        sbatch=sbatch,
        name=next((str(values[key]) for key in ("job_name", "name") if key in values), None),
        at_once=positive(values, "array_parallelism", 256),
        poll=positive(values, "poll_s", 180),
        setup=strings(values, "setup"),
        teardown=strings(values, "teardown"),
        srun=srun if values.get("use_srun", bool(srun)) else None,
        separate_errors=values.get("stderr_to_stdout") is False,
    )


def check_type(name: str, value: object) -> None:
    allowed = OURS.get(name, SCALARS)
    if type(value) not in allowed:
        names = " or ".join(kind.__name__ for kind in allowed)
        raise UserError(f"[slurm] {name} {value!r}: allowed is a {names}")


def positive(values: Mapping[str, object], name: str, usual: int) -> int:
    value = values.get(name, usual)
    if not isinstance(value, (int, float)) or not value > 0:
        raise UserError(f"[slurm] {name} {value}: allowed is a number above 0")
    return int(value) or 1


def strings(values: Mapping[str, object], name: str) -> tuple[str, ...]:
    lines = values.get(name, [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise UserError(f"[slurm] {name} {lines!r}: allowed is a list of strings")
    return tuple(lines)


def table(value: object) -> dict[str, object]:
    """Return additional_parameters, whose keys are options of sbatch as it names them."""
    return {str(key).replace("_", "-"): each for key, each in value.items()} if isinstance(value, dict) else {}


def memory(gigabytes: object) -> str:
    """Return `8GB`, and megabytes of a broken number, which sbatch does not know."""
    if not isinstance(gigabytes, (int, float)):
        raise UserError(f"[slurm] mem_gb {gigabytes!r}: allowed is a number")
    return f"{int(gigabytes)}GB" if gigabytes == int(gigabytes) else f"{int(gigabytes * 1024)}MB"


def argv(sbatch: Mapping[str, object]) -> list[str]:
    """Return options of sbatch as it is called with them; true is an option without a value, false leaves one out."""
    shown = {name: value for name, value in sbatch.items() if value is not False}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in shown.items()]
