"""Steps of attention in plain tensors, for variants that change what lies between them."""

import torch
from torch import Tensor

from realformer_nmt.model.attention.attention import Attention, CrossAttention, SelfAttention
from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.heads import HEADS as HEAD_KINDS
from realformer_nmt.model.attention.scores import build_source
from realformer_nmt.model.scaling import Gains

HEADS, D = 4, 3
LAYERS = 3
MASKS = {
    "padding": torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=torch.bool)[:, None, None],
    "causal": torch.ones(5, 5, dtype=torch.bool).triu(1)[None, None],
}
CHAINS = {  # whose layers a model has: the kind of attention, and its mask
    "encoder": (SelfAttention, "padding"),
    "decoder": (SelfAttention, "causal"),
    "encoder-decoder": (CrossAttention, "padding"),
}


def attentions(chain: str, carry: str, heads: str = "plain") -> list[Attention]:
    """Three layers with random weights."""
    torch.manual_seed(4)
    kind, width = CHAINS[chain][0], HEADS * D
    built = [
        kind(
            build_source("dot", HEADS, D, 1),
            CARRIES[carry],
            depth,
            memory_width=width,
            dropout=0.0,
            gains=Gains(),
            head_mixing=HEAD_KINDS[heads].mixing(HEADS, D, depth),
        )
        for depth in range(1, LAYERS + 1)
    ]
    for parameter in (parameter for layer in built for parameter in layer.parameters()):
        torch.nn.init.normal_(parameter, std=0.5)
    return built


def project(attention: Attention, name: str, x: Tensor) -> Tensor:
    return x @ attention.get_parameter(f"{name}.weight").T + attention.get_parameter(f"{name}.bias")


def heads(attention: Attention, name: str, x: Tensor) -> list[Tensor]:
    """The projection of each head, B x T x D."""
    return list(project(attention, name, x).split(D, -1))


def raw_scores(attention: Attention, x: Tensor, memory: Tensor) -> Tensor:
    pairs = zip(heads(attention, "q_proj", x), heads(attention, "k_proj", memory), strict=True)
    return torch.stack([torch.einsum("btd,bsd->bts", query, key) / D**0.5 for query, key in pairs], 1)


def softmax(logits: Tensor, mask: Tensor) -> Tensor:
    shares = torch.exp(logits) * ~mask
    return shares / shares.sum(-1, keepdim=True)


def values(attention: Attention, weights: Tensor, memory: Tensor) -> Tensor:
    """The weighted values of all heads, B x H x T x D."""
    parts = heads(attention, "v_proj", memory)
    return torch.stack([weights[:, head] @ value for head, value in enumerate(parts)], 1)


def output(attention: Attention, mixed: Tensor) -> Tensor:
    return project(attention, "out_proj", torch.cat(list(mixed.unbind(1)), -1))
