"""Tiny models and batches that the tests of the models share."""

from argparse import Namespace
from types import SimpleNamespace
from typing import Any, TypeVar

import torch
from fairseq.data import Dictionary
from torch import Tensor, nn

from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.norms import ScaleNorm
from realformer_nmt.model.part_names import FAMILY_OPTIONS
from realformer_nmt.model.topologies.topology import Topology

Model = TypeVar("Model", bound=nn.Module)
BOS, PAD, EOS = 0, 1, 2
SIZE = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"layers": 2, "embed_dim": 8, "ffn_embed_dim": 12, "attention_heads": 2}.items()
}
UNMOVED = (
    "k_proj.bias",  # a softmax does not see what shifts all its scores
    "shortcut.share",  # only decay moves it
)
ZEROS = ("dynamic_alpha", "dynamic_beta", "map", "query", "shortcut.up")  # at the start they hide what they multiply
# Left-padded sources of 3, 6 and 5 tokens, as fairseq makes them, and right-padded targets
SOURCE = torch.tensor([[1, 1, 1, 7, 5, 2], [4, 5, 6, 7, 8, 2], [1, 9, 4, 4, 6, 2]])
PREVIOUS = torch.tensor([[2, 5, 7, 1, 1], [2, 8, 7, 6, 5], [2, 6, 4, 9, 1]])


def dictionary(letters: str = "abcdefghij") -> Dictionary:
    words = Dictionary()
    for letter in letters:
        words.add_symbol(letter)
    return words


def task(source: Dictionary | None = None, target: Dictionary | None = None) -> SimpleNamespace:
    source = source or dictionary()
    return SimpleNamespace(source_dictionary=source, target_dictionary=target or source)


def build(**options: Any) -> TranslationModel:
    """A model of 2+2 layers, width 8, without dropout; the seed is fixed."""
    torch.manual_seed(1)
    defaults = SIZE | {"dropout": 0.0, "score_length": 12}
    return TranslationModel.build_model(Namespace(**(defaults | options)), task())


def combination(parts: tuple[str, ...], **options: Any) -> TranslationModel:
    """Return a model of four parts, and a norm and heads if there are more, with its gates opened."""
    return opened(build(**dict(zip(FAMILY_OPTIONS, parts, strict=False)), **options))


def opened(model: Model) -> Model:
    """Give other values to what starts at 0, as gates do, and keeps gradients from all behind it."""
    with torch.no_grad():
        for _, zeros in (pair for pair in model.named_parameters() if pair[0].endswith(ZEROS)):
            nn.init.normal_(zeros, std=0.1)
        for topology in (module for module in model.modules() if isinstance(module, Topology)):
            for gate in topology.parameters(recurse=False):
                gate += 0.5 * ~gate.any()
    return model


def needs_gradient(model: nn.Module, name: str) -> bool:
    """Return whether a parameter must move; the length that a ScaleNorm gives may be taken back by the next norm."""
    return not name.endswith(UNMOVED) and not isinstance(model.get_submodule(name.rpartition(".")[0]), ScaleNorm)


def is_loud(logits: Tensor) -> bool:
    """Return whether a stream grew so large, without a norm, that rounding shows and each softmax is ones and zeros."""
    return bool(logits.abs().max() > 1_000)


def profiled(model: TranslationModel) -> TranslationModel:
    """The model as after its first training batch, in evaluation mode."""
    model.train()(SOURCE, None, PREVIOUS)
    return model.eval()


def step_by_step(model: TranslationModel, encoder_out: dict[str, list[Tensor]], previous: Tensor) -> Tensor:
    """Logits of cached decoding, one position after the other."""
    state: dict[str, Decoding] = {}
    steps = [
        model.decoder(previous[:, :end], encoder_out, incremental_state=state)[0]
        for end in range(1, previous.size(1) + 1)
    ]
    return torch.cat(steps, dim=1)  # B x T x V
