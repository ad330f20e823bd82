"""What passes inside a model, through hooks on its public parts: the layers know nothing of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from realformer_nmt.model.attention import Attended, Attention
from realformer_nmt.model.model import TranslationModel

CHAINS = {"encoder": ("encoder", "self_attn"), "decoder": ("decoder", "self_attn")}
CROSS = "encoder-decoder"
CHAINS |= {CROSS: ("decoder", "encoder_attn")}
See = Callable[[str, int, Tensor], None]  # chain, layer from 1, probabilities B x H x T x S


def chains(model: TranslationModel) -> dict[str, list[Attention]]:
    """The attentions through which scores may be carried, from the first layer on."""
    return {
        name: [getattr(layer, part) for layer in getattr(model, side).layers] for name, (side, part) in CHAINS.items()
    }


@contextmanager
def attention(model: TranslationModel, see: See) -> Iterator[None]:
    """While it lasts every attention shows its probabilities, layer after layer."""

    def ask(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args[:5], {**kwargs, "weights": True}  # the sixth are the weights

    def show(chain: str, layer: int) -> Callable[[nn.Module, Any, Attended], None]:
        def hook(_module: nn.Module, _args: Any, attended: Attended) -> None:
            if attended.probabilities is None:
                raise RuntimeError(f"{chain}, layer {layer} gives no probabilities")
            see(chain, layer, attended.probabilities.float())

        return hook

    with ExitStack() as hooks:
        for chain, parts in chains(model).items():
            for layer, part in enumerate(parts, 1):
                for handle in (
                    part.register_forward_pre_hook(ask, with_kwargs=True),
                    part.register_forward_hook(show(chain, layer)),
                ):
                    hooks.callback(handle.remove)
        yield
