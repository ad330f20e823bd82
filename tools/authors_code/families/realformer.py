"""RealFormer: the authors' layers, with the sum and the mean of scores, the second sentence's end hidden.

Their norms have another epsilon, which ours are given.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from authors_layers.same_layers import stacks
from authors_layers.same_weights import FFN_WIDTH, HEADS, LAYERS, SHAPE, WIDTH, Outputs, numbers, passed
from torch import Tensor, nn

from authors_code.layers import tensorflow_runs
from authors_code.record import Source, load
from realformer_nmt.model.encoder import Encoder

SOURCE = Source(
    "google-research/google-research", "5b09c22d73a9d35eb6c5d2a99b95677a45053466", "realformer/realformer.py"
)
HIDDEN = torch.tensor([[False, False, False], [False, False, True]])
EPS = 1e-12
MATRICES = {
    "attention/self/query": "self_attn.q_proj",
    "attention/self/key": "self_attn.k_proj",
    "attention/self/value": "self_attn.v_proj",
    "attention/output/dense": "self_attn.out_proj",
    "intermediate/dense": "fc1",
    "output/dense": "fc2",
}
NORMS = {"attention/output": "self_attn_layer_norm", "output": "final_layer_norm"}
CARRIES = ("sum", "mean")


def theirs(checkout: Path) -> Outputs:
    tensorflow_runs.find_tensorflow()
    code = load(checkout / SOURCE.file)
    weights = {name: value for layer in range(LAYERS) for name, value in their_weights(layer).items()}
    outputs: Outputs = {}
    for carry in CARRIES:
        outputs |= tensorflow_runs.run(lambda x, carry=carry: (layers(code, x, carry), None), weights, carry)
    return outputs


def layers(code: ModuleType, x: Any, carry: str) -> Any:
    import tensorflow.compat.v1 as tf

    return code.realformer_model(
        x,
        attention_mask=tf.constant((~HIDDEN).float()[:, None].expand(-1, SHAPE[1], -1).numpy()),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=FFN_WIDTH,
        intermediate_act_fn=tf.nn.relu,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        use_running_mean=carry == "mean",
    )


def their_weights(layer: int) -> Outputs:
    """Return the weights of our layer under their names."""
    weights: Outputs = {}
    for name, module in MATRICES.items():
        outputs, inputs = {"fc1": (FFN_WIDTH, WIDTH), "fc2": (WIDTH, FFN_WIDTH)}.get(module, (WIDTH, WIDTH))
        weights[f"layer_{layer}/{name}/kernel"] = numbers(f"layers.{layer}.{module}.weight", outputs, inputs).t()
        weights[f"layer_{layer}/{name}/bias"] = numbers(f"layers.{layer}.{module}.bias", outputs)
    for name, module in NORMS.items():
        for part, parameter in {"gamma": "weight", "beta": "bias"}.items():
            weights[f"layer_{layer}/{name}/LayerNorm/{part}"] = numbers(f"layers.{layer}.{module}.{parameter}", WIDTH)
    return weights


def ours() -> Outputs:
    outputs: Outputs = {}
    for carry in CARRIES:
        encoder, _ = stacks(score_carry=carry)
        for norm in (module for module in encoder.modules() if isinstance(module, nn.LayerNorm)):
            norm.eps = EPS
        outputs |= passed(lambda x, encoder=encoder: encode(encoder, x), carry)
    return outputs


def encode(encoder: Encoder, x: Tensor) -> Tensor:
    stream, carried = encoder.topology.enter(x), ()
    for layer in encoder.layers:
        stream, carried = encoder.run(layer, stream, HIDDEN[:, None, None], carried)
    return encoder.topology.leave(stream, encoder.layer_norm)
