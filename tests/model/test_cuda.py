"""On a GPU every family has the CPU's loss and gradients; in 16 bits it has them on both."""

import pytest
import torch
from tiny_models.representatives import every_family
from tiny_models.tiny import PREVIOUS, SOURCE, build, opened, profiled
from torch import Tensor

from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.training.fused_loss import ProjectedNLL

PAD = 1
TARGET = PREVIOUS.roll(-1, 1).masked_fill(PREVIOUS == PAD, PAD)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


def trained_once(family: str, **options: object) -> TranslationModel:
    """A model in training mode on the CPU, as after its first batch, which is ADMIN's profile."""
    return profiled(opened(build(**FAMILIES[family], **options))).train()


def loss_of(model: TranslationModel) -> Tensor:
    device = next(model.parameters()).device
    features, _ = model(SOURCE.to(device), None, PREVIOUS.to(device), features_only=True)
    weight = model.decoder.output_projection.weight
    loss, _ = ProjectedNLL.apply(features.flatten(0, 1), weight, TARGET.to(device).flatten(), 0.1, PAD)
    return loss


def loss_and_gradients(model: TranslationModel) -> tuple[Tensor, dict[str, Tensor]]:
    model.zero_grad()
    loss = loss_of(model)
    loss.backward()
    weights = {name: weight for name, weight in model.named_parameters() if weight.grad is not None}
    gradients = {name: weight.grad.to("cpu", copy=True) for name, weight in weights.items()}  # the model may move on
    return loss.detach().cpu(), gradients


def assert_alike(actual: dict[str, Tensor], expected: dict[str, Tensor], rounding: float) -> None:
    """A gradient that is zero on paper, of a key's bias, is what rounding left of larger ones: softmax is in fp32."""
    assert actual.keys() == expected.keys()
    left_over = 0.1 * rounding * max(gradient.abs().max().item() for gradient in expected.values())
    for name, gradient in expected.items():
        tolerance = rounding * gradient.abs().max().item() + left_over
        torch.testing.assert_close(actual[name], gradient, rtol=0, atol=tolerance)


@needs_gpu
@every_family
def test_loss_and_gradients_are_the_cpus(family: str) -> None:
    model = trained_once(family).double()
    expected_loss, expected = loss_and_gradients(model)
    loss, gradients = loss_and_gradients(model.cuda())
    torch.testing.assert_close(loss, expected_loss, rtol=1e-6, atol=0)
    assert_alike(gradients, expected, 1e-5)


@every_family
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_each_precision_has_nearly_the_loss_of_fp64(family: str, device: str, dtype: torch.dtype) -> None:
    model = trained_once(family).double()
    expected, _ = loss_and_gradients(model)
    loss, gradients = loss_and_gradients(model.to(device, dtype))
    torch.testing.assert_close(loss.double(), expected, rtol=8 * torch.finfo(dtype).eps, atol=0)
    assert all(gradient.isfinite().all() for gradient in gradients.values())


@needs_gpu
@pytest.mark.parametrize("family", ["admin", "pre_ln", "realformer"])
def test_checkpointed_60_layers_have_the_gradients_of_others(family: str) -> None:
    deep = {"encoder_layers": 60, "decoder_layers": 12}
    model, checkpointed = (
        trained_once(family, **deep, checkpoint_activations=checkpointing).double().cuda()
        for checkpointing in (False, True)
    )
    checkpointed.load_state_dict(model.state_dict())
    (loss, expected), (same, gradients) = map(loss_and_gradients, (model, checkpointed))
    torch.testing.assert_close(same, loss, rtol=1e-9, atol=0)
    assert_alike(gradients, expected, 1e-6)
