"""Hyper-connections whose weights are the same for all positions."""

from functools import partial

from authors_code.layers import streams

SOURCE, run_code = streams.SOURCE, partial(streams.run_code, dynamic=False)
