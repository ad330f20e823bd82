"""The number of parameters of a translation model, by formulas: to build all models takes seconds."""

import math

from realformer_nmt.model.presets import SIZES, Preset

LENGTH = 256  # --score-length
RANK = 8  # of factorised_random
BASE = SIZES["wmt_en_de"]  # the size of a family without one


def parameters(preset: Preset, vocabulary: int) -> int:
    """Return the number for a joined dictionary and --share-all-embeddings; both sides of a preset have one width."""
    sizes = {name: int(value) for name, value in {**BASE, **preset}.items() if isinstance(value, int)}
    width, hidden, heads = (sizes[f"encoder_{name}"] for name in ("embed_dim", "ffn_embed_dim", "attention_heads"))
    encoder, decoder = sizes["encoder_layers"], sizes["decoder_layers"]
    linear, norm = width * width + width, 2 * width
    feed_forward = 2 * width * hidden + hidden + width
    self_attention = 2 * linear + scores(str(preset["score_source"]), linear, heads, width // heads)
    encoder_layer = self_attention + feed_forward + 2 * norm
    decoder_layer = self_attention + 4 * linear + feed_forward + 3 * norm
    final_norms = {"post": 0, "pre": 2 * norm, "dual": 2 * norm}[str(preset["residual_topology"])]
    weights = shortcut_weights(str(preset["residual_scaling"]), 2 * encoder, width)
    weights += shortcut_weights(str(preset["residual_scaling"]), 3 * decoder, width)
    return vocabulary * width + encoder * encoder_layer + decoder * decoder_layer + final_norms + weights


def scores(source: str, linear: int, heads: int, head_width: int) -> int:
    """Return the number for raw scores in one layer: projections, tables, and weights of a mixture."""
    blocks = next(number for number in range(math.isqrt(LENGTH), 0, -1) if LENGTH % number == 0)
    per_head = head_width * head_width + head_width + head_width * LENGTH + LENGTH
    rows: dict[str, tuple[set[str], int]] = {  # projections of the input that a source reads, numbers of its own
        "dot": ({"queries", "keys"}, 0),
        "dense": ({"queries"}, head_width * LENGTH),
        "dense_per_head": (set(), heads * per_head),
        "random": (set(), heads * LENGTH * LENGTH),
        "fixed_random": (set(), 0),
        "factorised_dense": (set(), heads * head_width * (blocks + LENGTH // blocks)),
        "factorised_random": (set(), 2 * heads * LENGTH * RANK),
    }
    sources = [rows[name] for name in source.split("+")]
    projections = set().union(*(read for read, _ in sources))
    mixing = len(sources) if len(sources) > 1 else 0
    return len(projections) * linear + sum(tables for _, tables in sources) + mixing


def shortcut_weights(scaling: str, sublayers: int, width: int) -> int:
    """Return the number for a stack's shortcuts; the first of ADMIN's is not trained unless all start fixed."""
    return {
        "none": 0,
        "deepnorm": 0,
        "admin": (sublayers - 1) * width,
        "admin_decayed": (sublayers - 1) * (width + 1),
        "admin_fixed": sublayers * width,
    }[scaling]
