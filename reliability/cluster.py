"""A cluster of SLURM on this machine, in a folder of its own: munged, slurmctld and one slurmd, without accounting.

It needs root and Debian's packages slurm-wlm and munge, and no systemd. Two partitions share the node: a job in
`urgent` takes it from those in `usual`, which go back into the queue.
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from reliability.trainings import LIMIT, REPOSITORY, check

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
SILENT = 10  # seconds until a node that does not answer is down, and its jobs are queued again
CONFIGURATION = """\
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1500
MpiDefault=none
ReturnToService=2
SlurmdTimeout={silent}
KillWait=5
MaxArraySize=1001
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeHostname={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=usual Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 State=UP
PartitionName=urgent Nodes=ALL MaxTime=INFINITE PriorityTier=9 State=UP
"""


def missing() -> str:
    """Return why there can be no cluster here, if there can be none."""
    if os.geteuid():
        return "SLURM's daemons are started as root"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [program for program in PROGRAMS if shutil.which(program, path=path) is None]
    return f"{', '.join(absent)} is not there: apt-get install slurm-wlm munge" if absent else ""


class Cluster:
    """Its daemons, and the environment in which its commands are called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.host = folder, socket.gethostname().partition(".")[0]
        self.environment = {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
            "PYTHONPATH": str(REPOSITORY),
        }
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def configure(self) -> None:
        munge = self.folder / "munge"
        for part in (munge, self.folder / "state", self.folder / "spool"):
            part.mkdir(parents=True, mode=0o700)
        (munge / "key").write_bytes(secrets.token_bytes(1024))
        (munge / "key").chmod(0o400)
        written = CONFIGURATION.format(host=self.host, folder=self.folder, ports=free_ports(2), silent=SILENT)
        (self.folder / "slurm.conf").write_text(written)

    def start(self) -> None:
        munge = self.folder / "munge"
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self._daemon("munged", "--foreground", "--force", *(f"--{name}={munge / file}" for name, file in files.items()))
        wait_until(lambda: (munge / "socket").exists(), "munged has no socket")
        self._daemon("slurmctld", "-D", "-i")
        self.start_node()

    def start_node(self) -> None:
        self._daemon("slurmd", "-D", "-N", self.host)
        wait_until(lambda: self.call("sinfo", "-h", "-o", "%T").strip() in ("idle", "mixed", "allocated"), "no node")

    def lose_node(self) -> None:
        """Kill the node as a cut of its power would: its daemon and all that runs under its jobs."""
        end(self._daemons.pop("slurmd"))
        for process in self.job_processes():
            with contextlib.suppress(ProcessLookupError):  # it has ended with another one
                os.kill(process, signal.SIGKILL)

    def job_processes(self) -> list[int]:
        """Return slurmd's processes and those of its jobs: all have this configuration in their environment."""
        variable = f"SLURM_CONF={self.folder / 'slurm.conf'}".encode()
        process_ids = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # it has ended, or is no process
                words = (entry / "environ").read_bytes().split(b"\0")
                if variable in words and (f"SLURMD_NODENAME={self.host}".encode() in words or _is_step(entry)):
                    process_ids.append(int(entry.name))
        return process_ids

    def call(self, *words: str) -> str:
        done = subprocess.run(
            words, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout + done.stderr

    def stop(self) -> None:
        for process in self.job_processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for program in ("slurmd", "slurmctld", "munged"):
            if program in self._daemons:
                end(self._daemons.pop(program))

    def _daemon(self, program: str, *options: str) -> None:
        with (self.folder / f"{program}.out").open("ab") as output:
            self._daemons[program] = subprocess.Popen(
                [str(shutil.which(program, path=self.environment["PATH"])), *options],
                env={**os.environ, **self.environment},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Cluster]:
    """Its commands are those of this process meanwhile."""
    cluster = Cluster(folder.resolve())
    cluster.configure()
    before = dict(os.environ)
    os.environ.update(cluster.environment)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        os.environ.clear()
        os.environ.update(before)


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait(LIMIT)


def _is_step(entry: Path) -> bool:
    return (entry / "comm").read_text().startswith("slurmstepd")


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def wait_until(happened: Callable[[], bool], otherwise: str, limit: float = LIMIT) -> float:
    """Seconds that it took."""
    begun = time.monotonic()
    while not happened():
        check(time.monotonic() - begun < limit, f"{otherwise} after {limit:.0f} s")
        time.sleep(0.1)
    return round(time.monotonic() - begun, 1)
