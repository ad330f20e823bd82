"""Hyper-connections whose weights depend on the streams."""

from functools import partial

from authors_code.layers import streams

SOURCE, run_code = streams.SOURCE, partial(streams.run_code, dynamic=True)
