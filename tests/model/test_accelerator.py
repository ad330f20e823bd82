"""On an accelerator no tensor of the CPU slips in, and no value is waited for: in training, the loss and the optimiser,
and in decoding."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable

import pytest
from programs.program import REPOSITORY
from tiny_models.representatives import OTHERS, REPRESENTATIVES
from torch.utils import backend_registration

HELPERS = REPOSITORY / "tests/helpers"
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{HELPERS}", "OMP_NUM_THREADS": "1"}
pytestmark = pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this torch has no devices without values but meta, which meets any other",
)


@pytest.mark.parametrize("families", [REPRESENTATIVES, pytest.param(OTHERS, marks=pytest.mark.product)], ids=len)
def test_families_train_and_decode_elsewhere_alone(families: Iterable[str]) -> None:
    """A device is registered for good, so that the trial has a process of its own: 22 seconds for 15 families."""
    command = [sys.executable, HELPERS / "formulas/on_accelerator.py", *families]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    outcomes = json.loads(done.stdout.splitlines()[-1])
    slipped, waited = outcomes.pop("add_a_tensor_of_the_cpu"), outcomes.pop("wait_for_a_value")
    assert outcomes == dict.fromkeys(families, "well")
    assert slipped.startswith("FakeTensorDeviceMismatchError")
    assert waited.startswith("DataDependentOutputException")
