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
SeeRun = Callable[[str, int, Stream, Stream], None]  # side, layer from 1, and the stream before and after it
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
def layer_runs(model: nn.Module, see: SeeRun) -> Iterator[None]:
    """Call `see` with the stream before and after every layer, however often the topology calls the layer."""
    numbers: dict[str, int] = {}  # of the layer that runs, by side

    def begin(side: str, number: int) -> Callable[..., None]:
        return lambda *_: numbers.update({side: number})

    def end(side: str) -> Callable[[nn.Module, tuple[Any, ...], tuple[Stream, ...]], None]:
        return lambda _module, args, results: see(side, numbers[side], args[1], results[0])

    with ExitStack() as hooks:
        for side, stack in stacks(model).items():
            hooks.callback(stack.topology.register_forward_hook(end(side)).remove)
            for number, layer in enumerate(stack.layers, 1):
                hooks.callback(layer.register_forward_pre_hook(begin(side, number)).remove)
        yield


@contextmanager
def first_calls(model: nn.Module) -> Iterator[Callable[[nn.Module], bool]]:
    """Yield a function that says whether a module of a layer is called for the first time since the layer began."""
    called: set[nn.Module] = set()

    def is_first(module: nn.Module) -> bool:
        first = module not in called
        called.add(module)
        return first

    with layer_runs(model, lambda *_: called.clear()):
        yield is_first


@contextmanager
def attention(model: nn.Module, see: See) -> Iterator[None]:
    """Call `see` with the probabilities of every attention, layer after layer, while the context lasts.

    If the topology calls a layer several times, only the first call counts, because it reads the stream itself.
    """

    def ask(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object]) -> tuple[Any, dict[str, object]]:
        return args[:5], {**kwargs, "weights": True}  # the sixth argument is `weights`

    def show(
        chain: str, layer: int, is_first: Callable[[nn.Module], bool]
    ) -> Callable[[nn.Module, Any, Attended], None]:
        def hook(module: nn.Module, _args: Any, attended: Attended) -> None:
            if attended.probabilities is not None and is_first(module):
                see(chain, layer, attended.probabilities.float())

        return hook

    with first_calls(model) as is_first, ExitStack() as hooks:
        for chain, parts in chains(model).items():
            for layer, part in enumerate(parts, 1):
                for handle in (
                    part.register_forward_pre_hook(ask, with_kwargs=True),
                    part.register_forward_hook(show(chain, layer, is_first)),
                ):
                    hooks.callback(handle.remove)
        yield


@contextmanager
def streams(model: nn.Module, see: SeeStream) -> Iterator[None]:
    """Call `see` with the stream before the first layer and after each, while the context lasts."""

    def show(side: str, layer: int, before: Stream, after: Stream) -> None:
        if layer == 1:
            see(side, 0, before)
        see(side, layer, after)

    with layer_runs(model, show):
        yield


def shortcuts(stack: Side) -> dict[str, Shortcut]:
    """Return the shortcuts by the names of their sub-layers, such as layers.0.self_attn, in order of execution."""
    return {name.removesuffix("_shortcut"): shortcut for name, shortcut in admin_profile.shortcuts(stack)}


@contextmanager
def terms(model: nn.Module, see: SeeTerms) -> Iterator[None]:
    """Call `see` with the terms of the first call of every shortcut in its layer, while the context lasts."""

    def show(side: str, is_first: Callable[[nn.Module], bool]) -> Callable[[Shortcut, tuple[Tensor, Tensor]], None]:
        return lambda shortcut, args: see(side, shortcut, *args) if is_first(shortcut) else None

    with first_calls(model) as is_first, ExitStack() as hooks:
        for side, stack in stacks(model).items():
            for shortcut in shortcuts(stack).values():
                hooks.callback(shortcut.register_forward_pre_hook(show(side, is_first)).remove)
        yield
