"""A model that cannot be built is refused with what was given, what is allowed and what to do."""

from typing import Any

import pytest
from tiny_models.tiny import build

REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "topology": ({"residual_topology": "sandwich"}, "--residual-topology sandwich is not one of post, pre, dual"),
    "near miss": (
        {"residual_scaling": "deepnrom"},
        "not one of none, admin, admin_decayed, admin_fixed, deepnorm, .*; did you mean deepnorm",
    ),
    "carry": ({"score_carry": "median"}, "--score-carry median is not one of none, sum, mean"),
    "source": ({"score_source": "random+vanilla"}, "--score-source vanilla is not one of dot, dense, .*random\\+dot"),
    "no source": ({"score_source": ""}, "--score-source  is not one of dot, dense"),
    "near source": ({"score_source": "dott"}, "--score-source dott .*; did you mean dot"),
    "twice": ({"score_source": "dot+dot"}, "--score-source dot\\+dot names a source twice: name each once"),
    "activation": ({"activation_fn": "relo"}, "--activation-fn relo is not one of relu, .*did you mean relu"),
    "heads": (
        {"encoder_attention_heads": 3},
        "--encoder-attention-heads 3 do not divide --encoder-embed-dim 8: use 1, 2, 4, 8",
    ),
    "decoder heads": (
        {"decoder_attention_heads": 5},
        "--decoder-attention-heads 5 do not divide --decoder-embed-dim 8",
    ),
    "no heads": ({"decoder_attention_heads": 0}, "--decoder-attention-heads 0: allowed is 1 or more"),
    "no layers": ({"encoder_layers": 0}, "--encoder-layers 0: allowed is 1 or more"),
    "negative": ({"decoder_layers": -6}, "--decoder-layers -6: allowed is 1 or more"),
    "ten thousand": ({"encoder_layers": 10000}, "--encoder-layers 10000 is more than 1000"),
    "no table": ({"score_length": 0}, "--score-length 0: allowed is 1 or more"),
    "no positions": ({"max_source_positions": 0}, "--max-source-positions 0: allowed is 1 or more"),
    "encoder layerdrop": ({"encoder_layerdrop": 0.1}, "--encoder-layerdrop 0.1 is not supported: .*leave it at 0"),
    "decoder layerdrop": ({"decoder_layerdrop": 0.2}, "--decoder-layerdrop 0.2 is not supported"),
    "two widths": (
        {"share_all_embeddings": True, "decoder_embed_dim": 16},
        "--share-all-embeddings needs one width: --encoder-embed-dim is 8, --decoder-embed-dim is 16",
    ),
    "pattern": ({"encoder_attention_pattern": "locale"}, "locale is not one of full, local, .*did you mean local"),
    "no window": ({"encoder_window": 0}, "--encoder-window 0: allowed is 1 or more"),
    "no global tokens": ({"encoder_global_tokens": 0}, "--encoder-global-tokens 0: allowed is 1 or more"),
    "rows of a table in a window": (
        {"encoder_attention_pattern": "local", "score_source": "random+dot"},
        "--encoder-attention-pattern local needs .* --score-source random.dot has rows .*: use --score-source dot, or",
    ),
    "negative reach": (
        {"encoder_relative_positions": -1},
        "--encoder-relative-positions -1: allowed is 0 or more",
    ),
    "rows of a table by distance": (
        {"encoder_relative_positions": 4, "score_source": "random+dot"},
        "--encoder-relative-positions 4 needs scores of queries and keys alone, and --score-source random",
    ),
    "rows of a table in depth": (
        {"score_carry": "moda", "score_source": "dot+random"},
        "--score-carry moda needs scores of queries .*: use --score-source dot, or --score-carry none",
    ),
    "no blocks": ({"residual_blocks": 0}, "--residual-blocks 0: allowed is 1 or more"),
    "overflow": (
        {"residual_topology": "pre", "residual_scaling": "deepnorm", "encoder_layers": 60, "decoder_layers": 12},
        "deepnorm multiplies it by 2.63 in each of the encoder's 120 sub-layers.*use .*post or dual",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused(case: str) -> None:
    options, message = REFUSALS[case]
    with pytest.raises(ValueError, match=message):
        build(**options)


def test_the_deepest_scaled_pre_ln_that_fp32_can_hold_is_not_refused() -> None:
    """2.06^54 = 9e16 in a decoder of 18 layers; fp32 ends at 3e38."""
    assert len(build(residual_topology="pre", residual_scaling="deepnorm", decoder_layers=18).decoder.layers) == 18
