"""Runs of TensorFlow's old graphs, as `passed` runs torch."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from same_weights.draws import SHAPE, Outputs, numbers
from torch import Tensor

PLACE = "import sysconfig; print(sysconfig.get_path('purelib'))"
Built = tuple[Any, Any]  # an output, and what is run once its variables have values, or None


def find_tensorflow() -> None:
    """Let TensorFlow be imported from the environment of $TENSORFLOW_PYTHON, behind what is installed in this one."""
    place = subprocess.run([os.environ["TENSORFLOW_PYTHON"], "-c", PLACE], check=True, capture_output=True, text=True)
    sys.path.append(place.stdout.strip())


def run(build: Callable[[Any], Built], weights: Mapping[str, Tensor], name: str) -> Outputs:
    """Return what comes of the input, and its gradient, from a graph with these values of its variables."""
    import tensorflow.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    with tf.Graph().as_default():
        x = tf.constant(numbers("input", *SHAPE).numpy())
        output, start = build(x)
        (gradient,) = tf.gradients(output * numbers("gradient", *SHAPE).numpy(), [x])
        with tf.Session() as session:
            variables = {variable.op.name: variable for variable in tf.global_variables()}
            assert variables.keys() == weights.keys()
            for variable, value in weights.items():
                variables[variable].load(value.numpy(), session)
            if start is not None:
                session.run(start)
            values = session.run([output, gradient])
    return dict(zip((name, f"{name}_gradient"), map(torch.tensor, values), strict=True))
