"""DLCL over Post-LN: the encoder and the decoder that the published results are from."""

from functools import partial

from authors_code.layers import dlcl

SOURCE, run_code = dlcl.SOURCE, partial(dlcl.run_code, normalize_before=False)
