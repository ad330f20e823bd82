"""DLCL over Pre-LN: the encoder and the decoder that the published results are from."""

from pathlib import Path

from authors_layers.same_weights import Outputs

from authors_code.layers import dlcl

SOURCE = dlcl.SOURCE


def theirs(checkout: Path) -> Outputs:
    return dlcl.theirs(checkout, normalize_before=True)


def ours() -> Outputs:
    return dlcl.ours("dlcl_pre")
