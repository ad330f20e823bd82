"""Weights that a model must not load although their names and shapes fit."""

from argparse import Namespace
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.models import BaseFairseqModel
from tiny_models import masked
from tiny_models.tiny import SIZE, build, dictionary

from realformer_nmt.model.models.multilingual import MultilingualModel
from realformer_nmt.model.weights import WeightsError


def masked_model(**options: Any) -> BaseFairseqModel:
    return masked.build("post_ln", **options)


def multilingual_model(**options: Any) -> BaseFairseqModel:
    task = SimpleNamespace(dicts=dict.fromkeys("abc", dictionary()), model_lang_pairs=["a-c", "b-c"])
    return MultilingualModel.build_model(Namespace(**SIZE, score_length=12, **options), task)


@pytest.mark.parametrize(
    ("model", "sharing", "names"),
    [
        (build, {"share_all_embeddings": True}, "encoder.embed_tokens.weight and decoder.embed_tokens.weight"),
        (
            build,
            {"share_decoder_input_output_embed": True},
            "decoder.embed_tokens.weight and decoder.output_projection.weight",
        ),
        (
            masked_model,
            {"untie_weights_roberta": False},
            "encoder.sentence_encoder.embed_tokens.weight and encoder.lm_head.weight",
        ),
        (multilingual_model, {"share_encoders": True}, r"models.a-c.encoder.\S+ and models.b-c.encoder.\S+"),
    ],
    ids=["all embeddings", "output", "masked", "encoders"],
)
def test_a_model_that_shares_refuses_weights_that_differ(
    model: Callable[..., BaseFairseqModel], sharing: dict[str, bool], names: str
) -> None:
    sharing_model, other = model(**sharing), model(**{name: not value for name, value in sharing.items()})
    before = {name: weight.clone() for name, weight in sharing_model.state_dict().items()}
    with pytest.raises(WeightsError, match=rf"its {names} differ, and this model has one tensor for both"):
        sharing_model.load_state_dict(other.state_dict())
    torch.testing.assert_close(dict(sharing_model.state_dict()), before, rtol=0, atol=0)
    sharing_model.load_state_dict(before)  # copies, equal in value alone
    other.load_state_dict(before)
    torch.testing.assert_close(dict(other.state_dict()), before, rtol=0, atol=0)
