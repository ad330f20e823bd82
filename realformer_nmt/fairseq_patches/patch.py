"""The decorator of a patch of one function of fairseq, and `replace` for patches of several."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

Original = Callable[..., Any]


def patch(owner: Any, name: str) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """Make a patch of a function that gets the original as its first argument: to call the patch is to apply it."""

    def decorate(function: Callable[..., Any]) -> Callable[[], None]:
        def apply() -> None:
            replace(owner, name, function)

        return functools.update_wrapper(apply, function)

    return decorate


def replace(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace a function of a module, or a method of a class, by one that gets the original as its first argument."""
    original: Original = getattr(owner, name)

    @functools.wraps(original)
    def patched(*args: Any, **kwargs: Any) -> Any:
        return function(original, *args, **kwargs)

    static = isinstance(inspect.getattr_static(owner, name), staticmethod)
    setattr(owner, name, staticmethod(patched) if static else patched)
