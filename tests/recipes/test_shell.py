"""The shell scripts: their length, and SLURM jobs with stand-ins for SLURM's commands."""

import re
import subprocess
from pathlib import Path

import pytest
from programs.program import REPOSITORY
from recipe_scripts.printed import flags
from recipe_scripts.recipe import commands
from recipe_scripts.recipe_runs import environment

RECIPES = REPOSITORY / "recipes"
SCRIPTS = sorted([*RECIPES.rglob("*.sh"), *RECIPES.rglob("*.sbatch")])
SBATCH = """#!/bin/sh
# Runs the job here, with what SLURM would say of its machines and what the job's first lines ask for.
job=$1
shift
asked() { sed -n "s/^#SBATCH --$1=//p" "$job"; }
SLURM_JOB_NUM_NODES=$(asked nodes) SLURM_GPUS_ON_NODE=$(asked gpus-per-node) SLURM_JOB_ID=41234 \\
SLURM_CPUS_PER_TASK=$(asked cpus-per-task) \\
SLURM_JOB_NODELIST=node[1-9] SLURM_SUBMIT_DIR=$PWD exec bash "$job" "$@"
"""
SRUN = """#!/bin/sh
echo "srun gives each task $SRUN_CPUS_PER_TASK processors"
node=0
while [ $node -lt $SLURM_JOB_NUM_NODES ]; do
    SLURM_PROCID=$node SLURM_NTASKS=$SLURM_JOB_NUM_NODES "$@" || exit $?
    node=$((node + 1))
done
"""
PREPROCESS = """#!/bin/bash
# As fairseq: a folder that holds a dictionary is refused. CUT stands for a kill before the test set is there.
while (($#)); do
  case $1 in --destdir) data=$2 ;; esac
  shift
done
[[ ! -e $data/dict.txt ]] || exit 1
mkdir -p "$data"
touch "$data/dict.txt"
[[ ! $CUT ]] || exit 1
touch "$data/test.idx"
"""
SCONTROL = "#!/bin/sh\nprintf 'node1\\nnode2\\n'\n"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(RECIPES)))
def test_scripts_are_short_and_stop_at_errors(script: Path) -> None:
    text = script.read_text()
    assert "set -euo pipefail" in text
    assert len(text.splitlines()) <= 100
    assert (script.stat().st_mode & 0o100 != 0) == (script.suffix == ".sh")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, program_path: str) -> str:
    """A PATH with SLURM's commands."""
    folder = tmp_path_factory.mktemp("slurm")
    for name, text in {"sbatch": SBATCH, "srun": SRUN, "scontrol": SCONTROL}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return f"{folder}:{program_path}"


def test_a_job_trains_on_every_machine(cluster: str, tmp_path: Path) -> None:
    options = ["--layers", "60-12", "--folder", str(tmp_path), "--dry-run", "--", "--num-workers", "4"]
    done = subprocess.run(
        [f"{cluster.split(':')[0]}/sbatch", "recipes/wmt14_en_fr/slurm.sbatch", *options],
        cwd=REPOSITORY,
        env=environment(PATH=cluster),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    stages = [command[1] for command in commands(done.stdout, "realformer-nmt")]
    assert stages == ["prepare", "train", "train", "average", "translate", "score"]
    assert "srun gives each task 32 processors" in done.stdout.splitlines()
    launched = [flags(command) for command in commands(done.stdout, "torchrun")]
    assert len(launched) == 2
    for rank, launch in enumerate(launched):
        assert (launch["nproc-per-node"], launch["nnodes"], launch["node-rank"]) == (8, 2, rank)
        assert (launch["master-addr"], launch["master-port"]) == ("node1", 20000 + 41234 % 20000)
        assert (launch["distributed-world-size"], launch["update-freq"], launch["num-workers"]) == (16, 16, 4)


@pytest.mark.parametrize("script", ["language_model/run.sh", "bert/paper.sh"])
def test_a_data_bin_that_was_not_finished_is_made_again(script: str, tmp_path: Path) -> None:
    programs, folder = tmp_path / "bin", tmp_path / "a folder"
    programs.mkdir()
    for name, text in {
        "fairseq-preprocess": PREPROCESS,
        "python": "#!/bin/sh\n",
        "realformer-nmt": "#!/bin/sh\n",
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (folder / "data-bin").mkdir(parents=True)
    (folder / "data-bin" / "dict.txt").touch()  # as version 0.3.0 left it after a kill
    for cut in ("cut", "", "not called again"):
        settings = environment(PATH=f"{programs}:{environment()['PATH']}", CUT=cut)
        done = subprocess.run([RECIPES / script, folder], env=settings, capture_output=True, check=False)
        assert done.returncode == (cut == "cut"), done.stderr
    data_bin, before = sorted(path.name for path in folder.iterdir())
    assert (data_bin, before.startswith("data-bin.")) == ("data-bin", True)
    assert [path.name for path in (folder / before).iterdir()] == ["dict.txt"]
    assert sorted(path.name for path in (folder / "data-bin").iterdir()) == ["dict.txt", "test.idx"]


def test_jobs_ask_for_the_papers_gpus() -> None:
    for recipe, gpus in {"wmt14_en_de": 4, "wmt14_en_fr": 16}.items():
        text = (RECIPES / recipe / "slurm.sbatch").read_text()
        counts = [int(re.findall(rf"^#SBATCH --{name}=(\d+)$", text, re.M)[0]) for name in ("nodes", "gpus-per-node")]
        assert counts[0] * counts[1] == gpus
