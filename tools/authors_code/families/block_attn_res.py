"""Attention residuals of blocks of two layers."""

from functools import partial

from authors_code.families import attn_res

SOURCE, run_code = attn_res.SOURCE, partial(attn_res.run_code, block_size=4)  # in sub-layers
