"""A model that is rounded for decoding gives its weights in fp32 up: it translates on, and cannot be saved."""

import copy
import pickle

import pytest
import torch
from tiny_models.tiny import PAD, build
from torch import Tensor

from realformer_nmt.common.errors import UserError
from realformer_nmt.kernels.precision import supported
from realformer_nmt.model.models.model import TranslationModel

SAYS = r"^this model was prepared for decoding and has lost its fp32 weights: load its checkpoint again$"
needs_int8 = pytest.mark.skipif("int8" not in supported(), reason="the processor has no products in int8")


def rounded() -> TranslationModel:
    model = build().eval()
    model.make_generation_fast_(precision="int8", need_attn=False)
    return model


@needs_int8
def test_no_matrix_is_left_in_fp32() -> None:
    matrices = {name: weight for name, weight in rounded().named_parameters() if weight.dim() > 1}
    assert {name.rpartition(".")[0].rpartition(".")[2] for name in matrices} == {"embed_tokens"}
    assert {weight.dtype for weight in matrices.values()} == {torch.float16}


@needs_int8
def test_embeddings_are_those_in_fp16() -> None:
    exact, words = build().eval(), torch.tensor([[4, 7, PAD]])
    model = copy.deepcopy(exact)
    model.make_generation_fast_(precision="int8")
    embedding: Tensor = model.encoder.embed_tokens(words)
    assert torch.equal(embedding, exact.encoder.embed_tokens(words).half().float())
    assert embedding.dtype == torch.float32


@needs_int8
def test_what_is_given_up_is_not_saved() -> None:
    model = rounded()
    for save in (pickle.dumps, TranslationModel.state_dict, lambda model: model.load_state_dict({})):
        with pytest.raises(UserError, match=SAYS):
            save(model)


def test_exact_weights_stay() -> None:
    model = build().eval()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    model.make_generation_fast_()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
