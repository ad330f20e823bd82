"""Import of what a table names as "module:attribute", when it is first needed: so the table is quick to import."""

from importlib import import_module
from typing import Any


def load(name: str) -> Any:
    """Return the attribute that "module:attribute" names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
