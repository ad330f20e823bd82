"""As much of SLURM as submitit asks for, on this machine: sbatch, srun, sacct, scancel, squeue."""

import stat
from pathlib import Path

SBATCH = """#!/bin/bash
script=${@: -1}
cp "$script" "$CLUSTER/submitted-$$.sh"
export SLURM_JOB_ID=$$ SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_JOB_NUM_NODES=1
export SLURM_JOB_NODELIST=localhost
setsid bash "$script" > "$CLUSTER/$$.out" 2>&1 &
echo $! > "$CLUSTER/$$.pid"
echo "Submitted batch job $$"
"""
SRUN = """#!/bin/bash
while [[ $1 == --* ]]; do
    case $1 in --output | --error) shift ;; esac
    shift
done
exec "$@"
"""
SACCT = """#!/bin/bash
echo "JobID|State|NodeList"
for file in "$CLUSTER"/*.pid; do
    job=$(basename "$file" .pid)
    kill -0 "$(cat "$file")" 2> /dev/null && echo "$job|RUNNING|localhost" || echo "$job|COMPLETED|localhost"
done
"""
SCANCEL = """#!/bin/bash
echo "$@" >> "$CLUSTER/cancelled"
kill -- -"$(cat "$CLUSTER/${@: -1}.pid")"
"""


def install(folder: Path) -> dict[str, str]:
    """The environment in which the cluster is there."""
    for name, script in {"sbatch": SBATCH, "srun": SRUN, "sacct": SACCT, "scancel": SCANCEL, "squeue": SACCT}.items():
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(script)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"CLUSTER": str(folder), "PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
