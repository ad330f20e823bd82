"""Steps of training and of decoding of families, on tensors without values whose device meets no other.

Run as `PYTHONPATH=.:tests/helpers python on_accelerator.py FAMILY ...`. It prints one line of JSON: for each family
"well", or the error; and two errors that must be seen.

The device is not called cuda, because torch's build for CPUs has no gradients of such tensors.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from tiny_models.tiny import build
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from realformer_nmt.fairseq_patches.decoding.static_search import EncodedBatch, SearchRules, SearchSizes, StaticSearch
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.training.fused_loss import ProjectedNLL
from realformer_nmt.training.radam import RAdam

DEVICE = "elsewhere"
VOCABULARY, SENTENCES, LENGTH = 14, 3, 6


class NumbersOfTheHost(TorchFunctionMode):
    """fairseq's positions ask for a shape as a tensor of the CPU; one without values would not hold it."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return list(args[0].shape) if function is torch._shape_as_tensor else function(*args, **(kwargs or {}))


def put(model: torch.nn.Module) -> torch.nn.Module:
    tensors: dict[int, Tensor] = {}
    for module in model.modules():
        for name, value in {**module._parameters, **module._buffers, **vars(module)}.items():
            if isinstance(value, Tensor):
                tensor = torch.empty(value.shape, dtype=value.dtype, device=DEVICE)
                if isinstance(value, torch.nn.Parameter):
                    tensor = torch.nn.Parameter(tensor, value.requires_grad)
                setattr(module, name, tensors.setdefault(id(value), tensor))
    vars(model).update(_profile_checked=True)  # ADMIN's profile is read once a training
    return model


def words() -> Tensor:
    return torch.randint(4, VOCABULARY, (SENTENCES, LENGTH), device=DEVICE)


def train(model: Any) -> None:
    features, _ = model(words(), None, words(), features_only=True)
    weight = model.decoder.output_projection.weight
    loss, _ = ProjectedNLL.apply(features.flatten(0, 1), weight, words().flatten(), 0.1, 1)
    loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and (parameter.grad is None or parameter.grad.device.type != DEVICE):
            raise AssertionError(f"{name} has no gradient there")
    updates = RAdam([model.decoder.output_projection.weight])
    for _ in range(7):  # the last are rectified
        updates.step()


def decode(model: Any) -> None:
    state: dict[str, Any] = {}
    model.make_generation_fast_()
    encoder_out = model.encoder(words())
    for end in (1, 2):
        logits, _ = model.decoder(words()[:, :end], encoder_out=encoder_out, incremental_state=state)
    if (logits.shape, logits.device.type) != ((SENTENCES, 1, VOCABULARY), DEVICE):
        raise AssertionError(f"logits are {tuple(logits.shape)} on {logits.device}")
    search(model.decoder, encoder_out)


def search(decoder: Any, encoder_out: Any) -> None:
    """Do what a CUDA graph records of a beam search."""
    memory, padding = encoder_out["encoder_out"][0].transpose(0, 1), encoder_out["encoder_padding_mask"][0]
    rules = SearchRules(2, 1, 2, 3, min_len=1, unk_penalty=0.0, temperature=1.0, len_penalty=1.0)
    static = StaticSearch(decoder, rules, SearchSizes(SENTENCES + 1, LENGTH, 8), memory)
    static.begin(EncodedBatch(memory, padding, 2, LENGTH))
    static.first_step(decoder)
    static.step(decoder)


def outcome(family: str, slip: Callable[..., Tensor] | None = None) -> str:
    """`slip` is done to the encoder's embeddings."""
    with torch.device("meta"):
        model = build(**FAMILIES[family], dropout=0.1, attention_dropout=0.1, activation_dropout=0.1)
    try:
        with FakeTensorMode(allow_non_fake_inputs=False), NumbersOfTheHost():
            model = put(model)
            if slip is not None:
                model.encoder.embed_tokens.register_forward_hook(slip)
            train(model.train())
            with torch.no_grad():
                decode(model.eval())
    except Exception as error:  # whatever it is, the test shows it
        return f"{type(error).__name__}: {error}"
    return "well"


def add_a_tensor_of_the_cpu(_module: object, _inputs: object, embedded: Tensor) -> Tensor:
    return embedded + torch.ones(embedded.size(-1))


def wait_for_a_value(_module: object, _inputs: object, embedded: Tensor) -> Tensor:
    return embedded if embedded.sum() > 0 else -embedded


if __name__ == "__main__":
    _setup_privateuseone_for_python_backend(DEVICE)
    outcomes = {family: outcome(family) for family in sys.argv[1:]}
    slips = {slip.__name__: outcome("post_ln", slip) for slip in (add_a_tensor_of_the_cpu, wait_for_a_value)}
    print(json.dumps(outcomes | slips))
