"""Options within an option are those that something has, by stock fairseq's own dataclasses."""

import argparse

import pytest
from fairseq.dataclass.configs import GenerationConfig
from fairseq.models.transformer import TransformerConfig

from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.options import nested_options, option_ranges


@pytest.mark.parametrize(
    ("option", "written", "message"),
    [
        ("model_overrides", "{'droput': 0.5}", "there is no option 'droput'; did you mean dropout"),
        ("model_overrides", "{'criterion': 5}", "criterion is a group of options: pass a table of them, not '5'"),
        ("model_overrides", "{'dropout': 2}", "--dropout 2 is not possible"),
        ("model_overrides", "5", "'5' is no table of options"),
        ("eval_bleu_args", '{"bean": 3}', "there is no option 'bean'; did you mean beam"),
        ("eval_bleu_args", '{"beam": 0}', "--beam 0 is not possible"),
        ("eval_bleu_args", "{", "cannot be read"),
    ],
)
def test_what_nothing_has_is_refused(option: str, written: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        option_ranges.check(argparse.Namespace(**{option: written}))


def test_what_stock_has_is_taken() -> None:
    """Names of stock's decoding and of its translation model; nothing at all, too."""
    decoding = {"beam": 5, "lenpen": 0.6, "max_len_a": 1.2, "max_len_b": 10}
    assert decoding.keys() <= vars(GenerationConfig()).keys()
    assert nested_options.read("eval_bleu_args", str(decoding).replace("'", '"')) == decoding
    model = {"dropout": 0.0, "max_source_positions": 9, "data": "elsewhere", "left_pad_source": False}
    assert {"dropout", "max_source_positions"} <= vars(TransformerConfig()).keys()
    assert nested_options.read("model_overrides", str(model)) == model
    assert nested_options.read("model_overrides", "") == {}
