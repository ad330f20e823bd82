"""Mode and number of updates reach the modules that torch's and fairseq's own methods reach."""

import pytest
import torch
from fairseq.models import BaseFairseqModel
from tiny_models.tiny import build
from torch import nn

from realformer_nmt.model.models import quick_passes
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES


class Asking(nn.Module):
    updates = -1

    def set_num_updates(self, number: int) -> None:
        self.updates = number


def with_asking(family: str) -> tuple[TranslationModel, list[Asking]]:
    """A model with a module that asks for the updates in each stack, in a layer, and beside the stacks."""
    model = build(**FAMILIES[family])
    asking = [Asking() for _ in range(4)]
    for place, module in zip((model, model.encoder, model.decoder, model.decoder.layers[1]), asking, strict=True):
        place.add_module("asking", module)
    return model, asking


@pytest.mark.parametrize("family", ["pre_ln", "pro_res", "hyper"])
def test_the_number_of_updates_reaches_what_fairseqs_own_method_reaches(family: str) -> None:
    model, asking = with_asking(family)
    model.set_num_updates(7)
    assert [module.updates for module in asking] == [7] * 4
    other, _ = with_asking(family)
    BaseFairseqModel.set_num_updates(other, 7)
    assert [module.updates for module in other.modules() if isinstance(module, Asking)] == [7] * 4
    torch.testing.assert_close(dict(model.named_buffers()), dict(other.named_buffers()), rtol=0, atol=0)


@pytest.mark.parametrize("mode", [True, False])
def test_the_mode_reaches_every_module(mode: bool) -> None:
    model = build(**FAMILIES["realformer"]).train(not mode)
    assert model.train(mode) is model
    model.decoder.layers[1].self_attn.train(not mode)
    assert model.train(mode) is model
    assert {module.training for module in model.modules()} == {mode}


def test_a_mode_that_all_have_is_not_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(**FAMILIES["realformer"]).train()
    monkeypatch.setattr(nn.Module, "train", None)
    assert model.train() is model


def test_modules_are_torchs() -> None:
    shared = nn.Linear(2, 2)
    model = nn.ModuleList([nn.Sequential(shared, nn.ReLU()), shared])
    model.register_module("nothing", None)
    assert set(quick_passes.modules(model)) == set(model.modules())
