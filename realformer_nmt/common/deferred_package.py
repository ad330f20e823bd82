"""A package whose __init__.py runs when one of its names is needed, so that a module in it can be imported alone."""

import sys
from importlib.util import find_spec, module_from_spec


def defer(name: str) -> None:
    """Let imports of a package's modules not run its __init__.py, which may import torch, unless it has run already."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, run = module_from_spec(spec), spec.loader.exec_module

    def run_first(attribute: str) -> object:
        if attribute.startswith("__"):  # Python itself looks these up in modules
            raise AttributeError(attribute)
        del package.__dict__["__getattr__"]
        run(package)
        return getattr(package, attribute)

    package.__dict__["__getattr__"] = run_first
    sys.modules[name] = package
