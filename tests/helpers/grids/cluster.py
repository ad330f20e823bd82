"""Stand-ins on this machine for sbatch, squeue, scancel and scontrol of a SLURM without accounting."""

import stat
from pathlib import Path

SBATCH = """#!/bin/bash
script=${@: -1}
echo "$@" > "$CLUSTER/submitted-$$"
for word in "$@"; do
    case $word in --array=*) last=${word#*=0-} last=${last%%\\%*} ;; --output=*) output=${word#*=} ;; esac
done
for index in $(seq 0 "$last"); do
    log=${output/\\%A_\\%a/$$_$index}
    SLURM_ARRAY_JOB_ID=$$ SLURM_ARRAY_TASK_ID=$index setsid bash "$script" > "$log" 2>&1 &
    echo "$!" > "$CLUSTER/$$_$index.task"
done
echo $$
"""
SQUEUE = """#!/bin/bash
echo asked >> "$CLUSTER/asked"
for file in "$CLUSTER"/*.task; do
    read -r process < "$file"
    kill -0 "$process" 2> /dev/null && echo "$(basename "$file" .task)|RUNNING|None"
done
exit 0
"""
SCANCEL = """#!/bin/bash
echo "$@" >> "$CLUSTER/cancelled"
for file in "$CLUSTER/${1%%_*}"_*.task; do
    read -r process < "$file"
    kill -- -"$process"
done
"""
SCONTROL = """#!/bin/bash
echo "$@" >> "$CLUSTER/controlled"
"""


def install(folder: Path) -> dict[str, str]:
    """The environment in which the cluster is there."""
    for name, script in {"sbatch": SBATCH, "squeue": SQUEUE, "scancel": SCANCEL, "scontrol": SCONTROL}.items():
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(script)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"CLUSTER": str(folder), "PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
