#!/usr/bin/env bash
# The body of recipes/*/slurm.sbatch: training in every task of the job, one a machine, all other stages on the first.
set -euo pipefail
recipe=$SLURM_SUBMIT_DIR/recipes/$1/run.sh
shift
master=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p):$((20000 + SLURM_JOB_ID % 20000))
machines=(--gpus "${SLURM_GPUS_ON_NODE:-0}" --master "$master")
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}  # since 22.05 srun inherits none

"$recipe" --stage prepare "$@"
# shellcheck disable=SC2016  # each task has a SLURM_PROCID of its own
srun bash -c '"$0" --stage train --nodes "$SLURM_NTASKS" --node-rank "$SLURM_PROCID" "$@"' "$recipe" "${machines[@]}" "$@"
for stage in average translate score; do
    "$recipe" --stage "$stage" "$@"
done
