"""A step of training and of decoding on any device, as fairseq does it, or this package."""

import inspect
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from fairseq import options, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.optim import FP16Optimizer
from torch import Tensor, nn
from workloads import BETAS, STOCK, Sample, Shape, criterion

SENTENCES, BEAM, LENGTH, WRITTEN = 64, 4, 24, 4  # of a decoding step; few are written, which hardly counts
WARM = 6  # updates, after which RAdam's are of their lasting kind; Adam's are at once


class Training:
    """`parts`, called in their order, are a step."""

    def __init__(self, who: str, shape: Shape, model: Any, sample: Sample, device: torch.device) -> None:
        self.model, self.sample, self.device = model.train(), sample, device
        vars(model).update(_profile_checked=True)  # ADMIN's profile is taken once a training
        self.loss_of = criterion(who, shape)
        self.updates = _optimiser(who, model)
        self.updates.zero_grad()
        for _ in range(1 if who == STOCK else WARM):
            self.updates.step()
        self.updates.zero_grad()
        self.parts: dict[str, Callable[[], None]] = {
            "forward": self.forward,
            "backward": self.backward,
            "optimiser": self.update,
        }

    def forward(self) -> None:
        self.loss, self.size, _ = self.loss_of(self.model, self.sample)

    def backward(self) -> None:
        self.updates.backward(self.loss)
        del self.loss

    def update(self) -> None:
        """Update the weights as fairseq's trainer does, which then asks twice whether the norm is finite."""
        self.updates.multiply_grads(1 / self.size)
        with patch.multiple(torch.cuda, is_available=lambda: True, current_device=lambda: self.device):
            norm = self.updates.clip_grad_norm(0.0)  # would be taken on the CPU where there is no CUDA
        for _ in range(2):
            bool(torch.isfinite(norm).all())
        self.updates.step()
        self.updates.zero_grad()

    def held(self) -> list[Any]:
        """Return the state that stays from step to step beside the model."""
        weights = self.updates.fp32_params
        return [self.updates.fp32_optimizer.optimizer, *weights, *(weight.grad for weight in weights)]


class StockOptimizer(FP16Optimizer):
    """fairseq's as it is without the plug-in, which replaces these methods."""

    _sync_fp16_grads_to_fp32 = inspect.unwrap(FP16Optimizer._sync_fp16_grads_to_fp32)
    _sync_fp32_params_to_fp16 = inspect.unwrap(FP16Optimizer._sync_fp32_params_to_fp16)
    zero_grad = inspect.unwrap(FP16Optimizer.zero_grad)

    def clip_grad_norm(self, *args: Any, **kwargs: Any) -> Tensor:
        with patch.object(utils, "multi_tensor_l2norm_available", False):
            norm: Tensor = super().clip_grad_norm(*args, **kwargs)
        return norm


def _optimiser(who: str, model: nn.Module) -> FP16Optimizer:
    """fairseq's around stock's Adam or this package's RAdam."""
    name = "adam" if who == STOCK else "radam"
    words = ["data", "--arch", "transformer", "--optimizer", name, "--lr", "1e-4", "--adam-betas", str(BETAS), "--bf16"]
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    kind = StockOptimizer if who == STOCK else FP16Optimizer
    return kind.build_optimizer(config, [weight for weight in model.parameters() if weight.requires_grad])


def decoder_step(model: Any, device: torch.device, vocabulary: int) -> Callable[[], Tensor]:
    """The decoder and the log-probabilities of all words for every beam; the search itself is not in it."""
    source = torch.randint(4, vocabulary, (SENTENCES, LENGTH), device=device)
    target = torch.randint(4, vocabulary, (SENTENCES * BEAM, WRITTEN), device=device)
    order = [row // BEAM for row in range(SENTENCES * BEAM)]
    beams = torch.arange(SENTENCES * BEAM, device=device).div(BEAM, rounding_mode="floor")
    vars(beams).update(tolist=lambda: order)  # which a tensor on paper does not know
    lengths = torch.full((SENTENCES,), LENGTH, device=device)
    encoder_out = model.encoder.reorder_encoder_out(model.encoder(source, lengths), beams)
    state: dict[str, Any] = {}

    def run(end: int = WRITTEN) -> Tensor:
        output = model.decoder(target[:, :end], encoder_out=encoder_out, incremental_state=state)
        lprobs: Tensor = model.get_normalized_probs(output, log_probs=True)
        return lprobs

    for end in range(1, WRITTEN):
        run(end)
    return run
