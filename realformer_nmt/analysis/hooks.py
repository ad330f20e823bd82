"""Hooks that show what passes inside a model; the layers are not changed for them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from realformer_nmt.model.attention.attention import Attended, Attention
from realformer_nmt.model.models import admin_profile
from realformer_nmt.model.stack import Side
from realformer_nmt.model.topologies.shortcuts import Shortcut as Shortcut
from realformer_nmt.model.topologies.topology import Stream

SIDES = ("encoder", "decoder")
CHAINS = {"encoder": ("encoder", "self_attn"), "decoder": ("decoder", "self_attn")}
CROSS = "encoder-decoder"
CHAINS |= {CROSS: ("decoder", "encoder_attn")}
See = Callable[[str, int, Tensor], None]  # chain, layer from 1, probabilities B x H x T x S
SeeStream = Callable[[str, int, Stream], None]  # side, layer from 0, which is before the first, B x T x C each
SeeTerms = Callable[[str, Shortcut, Tensor, Tensor], None]  # side, shortcut, and its arguments, B x T x C each


def stacks(model: nn.Module) -> dict[str, Side]:
    """Return the stacks of a model by side."""
    return {part.topology.stack.name: part for part in model.modules() if isinstance(part, Side)}


def chains(model: nn.Module) -> dict[str, list[Attention]]:
    """Return by name the chains of attentions through which a model may carry scores, from the first layer on."""
    sides = stacks(model)
    attentions = {
        name: [getattr(layer, part) for layer in sides[side].layers if hasattr(layer, part)]
        for name, (side, part) in CHAINS.items()
        if side in sides
    }
    return {name: parts for name, parts in attentions.items() if parts}


@contextmanager
def attention(model: nn.Module, see: See) -> Iterator[None]:
    """Call `see` with the probabilities of every attention, layer after layer, while the context lasts."""

    def ask(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object]) -> tuple[Any, dict[str, object]]:
        return args[:5], {**kwargs, "weights": True}  # the sixth argument is `weights`

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
    """Call `see` with the stream before the first layer and after each, while the context lasts."""

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
    """Return the shortcuts by the names of their sub-layers, such as layers.0.self_attn, in order of execution."""
    return {name.removesuffix("_shortcut"): shortcut for name, shortcut in admin_profile.shortcuts(stack)}


@contextmanager
def terms(model: nn.Module, see: SeeTerms) -> Iterator[None]:
    """Call `see` with the terms that every shortcut adds, while the context lasts."""

    def show(side: str) -> Callable[[Shortcut, tuple[Tensor, Tensor]], None]:
        return lambda shortcut, args: see(side, shortcut, *args)

    with ExitStack() as hooks:
        for side, stack in stacks(model).items():
            for shortcut in shortcuts(stack).values():
                hooks.callback(shortcut.register_forward_pre_hook(show(side)).remove)
        yield
