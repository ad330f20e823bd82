"""What passes inside a model, through hooks on its public parts: the layers know nothing of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from realformer_nmt.model import admin_profile
from realformer_nmt.model.attention import Attended, Attention
from realformer_nmt.model.residual import Stream
from realformer_nmt.model.scaling import Shortcut as Shortcut
from realformer_nmt.model.stack import Side

SIDES = ("encoder", "decoder")
CHAINS = {"encoder": ("encoder", "self_attn"), "decoder": ("decoder", "self_attn")}
CROSS = "encoder-decoder"
CHAINS |= {CROSS: ("decoder", "encoder_attn")}
See = Callable[[str, int, Tensor], None]  # chain, layer from 1, probabilities B x H x T x S
SeeStream = Callable[[str, int, Stream], None]  # side, layer from 0, which is before the first, B x T x C each
SeeTerms = Callable[[str, Shortcut, Tensor, Tensor], None]  # side, and what it is called with, B x T x C each


def stacks(model: nn.Module) -> dict[str, Side]:
    """By side, those that a model has, wherever in it they stand."""
    return {part.topology.stack.name: part for part in model.modules() if isinstance(part, Side)}


def chains(model: nn.Module) -> dict[str, list[Attention]]:
    """The attentions through which scores may be carried, from the first layer on: those that a model has."""
    own = stacks(model)
    found = {
        name: [getattr(layer, part) for layer in own[side].layers if hasattr(layer, part)]
        for name, (side, part) in CHAINS.items()
        if side in own
    }
    return {name: parts for name, parts in found.items() if parts}


@contextmanager
def attention(model: nn.Module, see: See) -> Iterator[None]:
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


@contextmanager
def streams(model: nn.Module, see: SeeStream) -> Iterator[None]:
    """While it lasts the stream is shown before the first layer and after each."""

    def after(side: str, layer: int) -> Callable[[nn.Module, Any, tuple[Stream, ...]], None]:
        return lambda _module, _args, output: see(side, layer, output[0])

    def before(side: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        return lambda _module, args: see(side, 0, args[1])  # after the topology

    with ExitStack() as hooks:
        for side, stack in stacks(model).items():
            layers = stack.layers
            hooks.callback(layers[0].register_forward_pre_hook(before(side)).remove)
            for number, layer in enumerate(layers, 1):
                hooks.callback(layer.register_forward_hook(after(side, number)).remove)
        yield


def shortcuts(stack: Side) -> dict[str, Shortcut]:
    """By the name of their sub-layer, as layers.0.self_attn, in the order in which they run."""
    return {name.removesuffix("_shortcut"): found for name, found in admin_profile.shortcuts(stack)}


@contextmanager
def terms(model: nn.Module, see: SeeTerms) -> Iterator[None]:
    """While it lasts every shortcut shows what it adds up."""

    def show(side: str) -> Callable[[Shortcut, tuple[Tensor, Tensor]], None]:
        return lambda shortcut, args: see(side, shortcut, *args)

    with ExitStack() as hooks:
        for side, stack in stacks(model).items():
            for shortcut in shortcuts(stack).values():
                hooks.callback(shortcut.register_forward_pre_hook(show(side)).remove)
        yield
