"""fairseq-train names the --arch that may have been meant."""

import sys

import pytest
from fairseq import options

from realformer_nmt import plugin
from realformer_nmt.common.errors import UserError


def test_an_unknown_arch_is_refused_with_the_closest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fairseq-train"])
    plugin.register()
    parser = options.get_training_parser()
    with pytest.raises(UserError, match=r"^--arch realfomer_tiny is not one of .*; did you mean realformer_tiny"):
        options.parse_args_and_arch(parser, ["data", "--arch", "realfomer_tiny"])
    args = options.parse_args_and_arch(parser, ["data", "--arch", "realformer_tiny"])
    assert args.arch == "realformer_tiny"
