"""A table names each machine that trained its cells once, with the GPUs that they used."""

from types import SimpleNamespace
from typing import Any

from realformer_nmt.common.stages.versions import Machine
from realformer_nmt.comparison.results.gather import machines

LAPTOP = Machine(host="vm", processor="AMD EPYC", cores=2, memory_gib=24)
SERVER = Machine(host="vm", processor="Intel Xeon", cores=16, memory_gib=126)


def state(machine: Machine | None, device: str | None = None) -> Any:
    training = SimpleNamespace(device=device) if device else None
    return SimpleNamespace(record=SimpleNamespace(machine=machine), training=training)


def test_two_machines_with_one_hosts_name_are_two() -> None:
    states = [state(LAPTOP, "CPU"), state(SERVER, "H100"), state(LAPTOP), state(None), state(SERVER, "H100")]
    laptop, server = machines(states)
    assert (laptop.processor, laptop.gpus) == ("AMD EPYC", [])
    assert (server.processor, server.gpus) == ("Intel Xeon", ["H100"])
