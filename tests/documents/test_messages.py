"""Messages name only files that an installed package has, or say that they stand in a clone."""

import ast
import re
from pathlib import Path

from programs.program import REPOSITORY

IN_CLONE = re.compile(r"\b(?:recipes|docs|tests|tools|benchmarks)/[\w*./]+")
MODULES = [*(REPOSITORY / "realformer_nmt").rglob("*.py")]


def strings(module: Path) -> list[str]:
    """Return the strings of a module except docstrings, which no message shows."""
    tree = ast.parse(module.read_text())
    shown = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [str(node.value) for node in shown if id(node) not in docstrings]


def test_a_file_that_pip_does_not_install_is_there_and_said_to_be_in_a_clone() -> None:
    texts = {text: IN_CLONE.findall(text) for module in MODULES for text in strings(module)}
    assert [text for text, paths in texts.items() if paths and "in a clone" not in text] == []
    named = {path for paths in texts.values() for path in paths}
    assert {"recipes/quickstart/grid.toml", "docs/comparing.md"} <= named
    assert [path for path in sorted(named) if not [*REPOSITORY.glob(path)]] == []
