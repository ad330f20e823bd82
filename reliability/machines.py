"""Two machines, as far as the network goes: namespaces with addresses of their own and a cable between them (root)."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reliability import kills, ranks
from reliability.trainings import LIMIT, Words, check, kill, start, torchrun, wait_for

SILENCE = 15  # seconds without an update, after which a rank gives up
PORT = 29511


@dataclass(frozen=True)
class Machine:
    rank: int
    namespace: str
    device: str
    address: str

    def enter(self, *words: str) -> Words:
        return ["ip", "netns", "exec", self.namespace, *words]

    def plug(self, state: str) -> None:
        run("ip", "-n", self.namespace, "link", "set", self.device, state)


def run(*words: str) -> None:
    subprocess.run(words, check=True)


@contextlib.contextmanager
def network() -> Iterator[list[Machine]]:
    number = os.getpid()
    machines = [Machine(rank, f"rf{number}-{rank}", f"rf{number}.{rank}", f"10.231.7.{rank + 1}") for rank in range(2)]
    first, second = machines
    with contextlib.ExitStack() as stack:
        for machine in machines:
            run("ip", "netns", "add", machine.namespace)
            stack.callback(run, "ip", "netns", "delete", machine.namespace)
        cable = ("type", "veth", "peer", second.device, "netns", second.namespace)
        run("ip", "link", "add", first.device, "netns", first.namespace, *cable)
        for machine in machines:
            run("ip", "-n", machine.namespace, "address", "add", f"{machine.address}/24", "dev", machine.device)
            run("ip", "-n", machine.namespace, "link", "set", "lo", "up")
            machine.plug("up")
        yield machines


class Job:
    """torchrun on both machines, one rank each."""

    def __init__(self, machines: list[Machine], data: Path, folder: Path, updates: int) -> None:
        command = ranks.training(data, folder, 1, updates)
        self.logs = [folder.with_suffix(f".{machine.rank}.log") for machine in machines]
        self.processes = []
        for machine, log in zip(machines, self.logs, strict=True):
            log.write_bytes(b"")
            meeting = (f"--master-addr={machines[0].address}", f"--master-port={PORT}")
            launcher = torchrun(1, command, "--nnodes=2", f"--node-rank={machine.rank}", *meeting)
            words = [*launcher, "--heartbeat-timeout", str(SILENCE)]
            device = f"GLOO_SOCKET_IFNAME={machine.device}"
            self.processes.append(start(machine.enter("env", device, *words), log))

    def finish(self) -> list[int]:
        try:
            return [process.wait(LIMIT) for process in self.processes]
        finally:
            self.end()

    def end(self) -> None:
        for process in self.processes:
            kill(process)

    def read_logs(self) -> str:
        return "\n".join(log.read_text()[-2000:] for log in self.logs)


def lose_machine(data: Path, folder: Path, updates: int) -> dict[str, float]:
    """The cable is pulled and the second machine dies without a word: the first gives up in seconds, and the same two
    commands end where they would have without that."""
    folder.mkdir(parents=True)
    with network() as machines:
        whole = Job(machines, data, folder / "whole", updates)
        check(whole.finish() == [0, 0], whole.read_logs())
        ranks.agree(folder / "whole")
        job = Job(machines, data, folder / "lost", updates)
        try:
            wait_for(lambda: kills.reached(job.logs[0]) >= updates // 2, job.processes[0], job.logs[0])
            machines[1].plug("down")
            kill(job.processes[1])
            died = time.monotonic()
            status = job.processes[0].wait(LIMIT)
            took = time.monotonic() - died
        finally:
            job.end()
        check(status != 0, f"the other machine died, and the job ended well: {job.read_logs()}")
        machines[1].plug("up")
        again = Job(machines, data, folder / "lost", updates)
        check(again.finish() == [0, 0], again.read_logs())
        check("Loaded checkpoint" in again.logs[0].read_text(), again.read_logs())
    kills.agree(folder / "whole" / ranks.LAST, folder / "lost" / ranks.LAST, kills.KEPT)
    return {"seconds until the other gave up": round(took, 1), "seconds of silence allowed": SILENCE}
