"""Print the initial weights of bzhangGo/zero's Transformer with DS-Init, by Python with tensorflow 2 and without torch.

The code is of tensorflow 1, whose interface is in 2, too. Each draw gives the bound of its distribution.
"""

import json
import sys
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import tensorflow

tf = tensorflow.compat.v1
WORDS = SimpleNamespace(size=lambda: 10)


def main(checkout: str, width: int, ffn_width: int, heads: int, layers: int) -> None:
    tf.disable_v2_behavior()
    models = ModuleType("models.model")  # it needs parts of tensorflow 1 that are gone, to register what is run here
    models.model_register = lambda *_functions: None
    sys.modules |= {"tensorflow": tf, "models.model": models}
    sys.path.insert(0, checkout)
    from models import transformer

    words, params = tf.constant([[4, 4]]), SimpleNamespace(**options(width, ffn_width, heads, layers))
    with patch("tensorflow.python.ops.random_ops.random_uniform", largest), tf.variable_scope("", reuse=tf.AUTO_REUSE):
        state = transformer.encoder(words, params)
        transformer.decoder(words, state, params)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        weights = {v.name: float(session.run(v).max()) for v in tf.global_variables() if "/W_" in v.name}
    print(json.dumps(weights))


def options(width: int, ffn_width: int, heads: int, layers: int) -> dict[str, object]:
    switches = dict.fromkeys(("shared_source_target_embedding", "shared_target_softmax_embedding"), True)
    off = dict.fromkeys(("dropout", "attention_dropout", "residual_dropout", "relu_dropout", "label_smooth"), 0.0)
    sizes = {"hidden_size": width, "embed_size": width, "filter_size": ffn_width, "num_heads": heads}
    depths = {"num_encoder_layer": layers, "num_decoder_layer": layers}
    return {
        **off,
        **sizes,
        **depths,
        **switches,
        "src_vocab": WORDS,
        "tgt_vocab": WORDS,
        "deep_transformer_init": True,
        "initializer_gain": 1.0,
    }


def largest(shape: object, _low: float, high: float, dtype: object, **_options: object) -> object:
    return tf.fill(shape, tf.cast(high, dtype))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
