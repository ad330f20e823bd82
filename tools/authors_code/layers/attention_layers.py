"""Pre-LN layers of ours around authors' attentions, which are called with the normed stream."""

from collections.abc import Callable

import torch
from authors_layers.same_layers import encode, stacks
from authors_layers.same_weights import FFN_WIDTH, LAYERS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

HEADS = 4
Attend = Callable[[nn.Module, Tensor], Tensor]


class Layer(nn.Module):
    """Layer whose feed-forward block, norms and names are ours."""

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.self_attn = attention
        self.self_attn_layer_norm, self.final_layer_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, FFN_WIDTH), nn.Linear(FFN_WIDTH, WIDTH)

    def forward(self, x: Tensor, attend: Attend) -> Tensor:
        x = x + attend(self.self_attn, self.self_attn_layer_norm(x))
        return x + self.fc2(torch.relu(self.fc1(self.final_layer_norm(x))))


class Stack(nn.Module):
    """Layers, and a last norm."""

    def __init__(self, attention: Callable[[int], nn.Module], attend: Attend, names: dict[str, str]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(attention(layer)) for layer in range(LAYERS))
        self.layer_norm, self.attend = nn.LayerNorm(WIDTH), attend
        fill(self, names)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, self.attend)
        return self.layer_norm(x)


def ours(biases: bool = True, **options: str) -> Outputs:
    """Return what our encoder makes of the input, without the biases of attentions if theirs have none."""
    encoder, _ = stacks(encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, **options)
    for name, parameter in encoder.named_parameters():
        if not biases and "self_attn." in name and name.endswith("bias"):
            parameter.data.zero_()
    return passed(lambda x: encode(encoder, x), "encoder")
