"""Attentions of Mesh TensorFlow, whose queries are not divided by a root."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from same_weights.draws import HEADS, SHAPE, WIDTH, Outputs, numbers
from torch import Tensor

from authors_code.layers import tensorflow_runs

REPOSITORY, COMMIT = "tensorflow/mesh", "da907937e68aa421186f1178d71eb5f736fcb069"
FILE = "mesh_tensorflow/transformer/transformer_layers.py"
LONGEST = 512  # of the tables in their code
D = WIDTH // HEADS


def transposed(name: str, factor: float = 1.0) -> Tensor:
    """Return the matrix of one of our projections as theirs has it."""
    return factor * numbers(f"{name}.weight", WIDTH, WIDTH).t()


def install(checkout: Path) -> ModuleType:
    """Import their layers without the parts that new TensorFlows break: estimators, TPUs and data."""
    tensorflow_runs.find_tensorflow()
    import tensorflow.compat.v1 as tf

    modes = SimpleNamespace(TRAIN="train", EVAL="eval", PREDICT="infer")
    tf.estimator = SimpleNamespace(CheckpointSaverListener=object, SessionRunHook=object, ModeKeys=modes)
    sys.path.insert(0, str(checkout))
    for name in ("simd_mesh_impl", "tpu_variables", "transformer"):
        sys.modules[f"mesh_tensorflow.{name}"] = ModuleType(f"mesh_tensorflow.{name}")
    package = importlib.import_module("mesh_tensorflow")
    package.transformer = sys.modules["mesh_tensorflow.transformer"]
    package.transformer.__path__ = [str((checkout / FILE).parent)]
    return importlib.import_module("mesh_tensorflow.transformer.transformer_layers")


def run_code(layer: Any, weights: Mapping[str, Tensor], name: str) -> Outputs:
    """Return what one of their layers makes of the input, and the gradient."""
    return tensorflow_runs.run(lambda x: lowered(layer, x), weights, name)


def lowered(layer: Any, x: Any) -> tensorflow_runs.Built:
    """Return a layer's output for an input, and what starts its variables' copies."""
    import mesh_tensorflow as mtf
    import tensorflow.compat.v1 as tf
    from mesh_tensorflow.transformer.transformer import Context

    graph = mtf.Graph()
    mesh = mtf.Mesh(graph, "mesh")
    batch, length, width = (mtf.Dimension(*dim) for dim in zip(("batch", "length", "d_model"), SHAPE, strict=True))
    context = Context(
        model=SimpleNamespace(model_dim=width, ensemble_dims=[], ensemble_dim=None, fully_autoregressive=False),
        mesh=mesh,
        batch_dims=[batch],
        length_dim=length,
        variable_dtype=mtf.VariableDType(tf.float32),
        mode="eval",
        position=mtf.range(mesh, length, tf.int32),
    )
    output = layer.call(context, mtf.import_tf_tensor(mesh, x, mtf.Shape([batch, length, width])))
    lowering = mtf.Lowering(graph, {mesh: mtf.placement_mesh_impl.PlacementMeshImpl([], {}, [""])})
    return lowering.export_to_tf_tensor(output), lowering.copy_masters_to_slices()
