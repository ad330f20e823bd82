"""RealFormer: the authors' layers, with the sum and the mean of scores, the second sentence's end hidden.

Their norms have another epsilon, which ours are given.
"""

from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, SHAPE, WIDTH, Outputs, numbers
from same_weights.families import LAST_HIDDEN

from authors_code.layers import tensorflow_runs
from authors_code.record import Source, load

SOURCE = Source(
    "google-research/google-research", "5b09c22d73a9d35eb6c5d2a99b95677a45053466", "realformer/realformer.py"
)
MATRICES = {
    "attention/self/query": "self_attn.q_proj",
    "attention/self/key": "self_attn.k_proj",
    "attention/self/value": "self_attn.v_proj",
    "attention/output/dense": "self_attn.out_proj",
    "intermediate/dense": "fc1",
    "output/dense": "fc2",
}
NORMS = {"attention/output": "self_attn_layer_norm", "output": "final_layer_norm"}


def run_code(checkout: Path) -> Outputs:
    tensorflow_runs.find_tensorflow()
    code = load(checkout / SOURCE.file)
    weights = {name: value for layer in range(LAYERS) for name, value in their_weights(layer).items()}
    outputs: Outputs = {}
    for carry in ("sum", "mean"):
        outputs |= tensorflow_runs.run(partial(layers, code, carry), weights, carry)
    return outputs


def layers(code: ModuleType, carry: str, x: Any) -> tensorflow_runs.Built:
    import tensorflow.compat.v1 as tf

    output = code.realformer_model(
        x,
        attention_mask=tf.constant((~LAST_HIDDEN).float()[:, None].expand(-1, SHAPE[1], -1).numpy()),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=FFN_WIDTH,
        intermediate_act_fn=tf.nn.relu,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        use_running_mean=carry == "mean",
    )
    return output, None


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
