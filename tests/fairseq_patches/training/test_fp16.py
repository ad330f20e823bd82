"""Training in fp16 on a CPU: the path of a GPU, with its loss scale and weights of 32 bits."""

import torch
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.optim import FP16Optimizer
from tiny_models import tiny
from tiny_models.representatives import every_family

from realformer_nmt.model.presets import FAMILIES

WORDS = ["data", "--arch", "transformer", "--optimizer", "adam", "--lr", "0.01", "--fp16", "--fp16-no-flatten-grads"]


@every_family
def test_every_family_trains_in_fp16(family: str) -> None:
    """Three updates by fairseq's optimizer: gradients and weights are finite, and the masters move."""
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), WORDS))
    model = tiny.opened(tiny.build(**FAMILIES[family])).half().train()
    optimizer = FP16Optimizer.build_optimizer(config, list(model.parameters()))
    before = [weights.clone() for weights in optimizer.fp32_params]
    for update in range(3):
        optimizer.zero_grad()
        model.set_num_updates(update)
        logits, _ = model(tiny.SOURCE, None, tiny.PREVIOUS)
        assert logits.dtype is torch.float16
        words = logits[tiny.PREVIOUS != tiny.PAD].float()
        optimizer.backward(words.log_softmax(-1)[:, 4].neg().sum())
        norm = optimizer.clip_grad_norm(1.0)
        assert norm.isfinite()
        optimizer.step()
    assert all(weights.isfinite().all() for weights in model.parameters())
    moved = [not torch.equal(old, new) for old, new in zip(before, optimizer.fp32_params, strict=True)]
    assert sum(moved) > len(moved) / 2
