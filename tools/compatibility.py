"""Write the tables of docs/reference/patches.md from the docstrings of the patches: python tools/compatibility.py

A comment `<!-- patches: amp bf16 -->` in the page begins a table of the patches in these modules, and `<!-- end -->`
ends it. A docstring's first clause is a patch's effect, its next sentence the cause: what fairseq does alone.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = Path("docs/reference/patches.md")
FOLDER = Path("realformer_nmt/fairseq_patches")
TABLE = re.compile(r"(<!-- patches: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
FILES = re.compile(r" \([\w/]+\.py(?:, [\w/]+\.py)*\)")
HEAD = "| with the plug-in | fairseq alone | function |\n|---|---|---|\n"


class Patch(NamedTuple):
    """Name of a patch with its effect, and with its cause: what fairseq does without it."""

    module: str
    name: str
    effect: str
    cause: str

    def row(self) -> str:
        """Return the patch's row of the table."""
        return f"| {markdown(self.effect)} | {markdown(self.cause)} | `{self.module}.{self.name}` |\n"


def markdown(text: str) -> str:
    """Return a docstring's text as a table's cell: options as code, without the names of fairseq's files."""
    text = FILES.sub("", text).replace(" of facebookresearch/fairseq", "").rstrip(".").replace("|", "\\|")
    return re.sub(r"(?<![\w`-])--[a-z][\w-]*", r"`\g<0>`", text)


def patches(folder: Path = FOLDER) -> Iterator[Patch]:
    """Yield every function of the folder's modules that its __init__ lists as `module.name`, called there or not."""
    files = [file for file in folder.rglob("*.py") if file.stem != "__init__"]
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    functions = {
        f"{module}.{node.name}": node
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    for name in listed(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))):
        if name in functions:
            module, _, function = name.partition(".")
            effect, cause = clauses(functions[name])
            summary, reason = clauses(trees[module])
            yield Patch(module, function, effect, cause or reason or summary)


def listed(tree: ast.Module) -> list[str]:
    """Return each `module.name` of a module, in its order."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [ast.unparse(node) for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset))]


def clauses(node: ast.Module | ast.FunctionDef) -> tuple[str, str]:
    """Return a docstring's first clause and its next sentence; raise ValueError where there is no docstring."""
    text = " ".join((ast.get_docstring(node) or "").split())
    if not text:
        raise ValueError(f"{getattr(node, 'name', 'a module of patches')} has no docstring")
    effect, *rest = re.split(r": |\. ", text, maxsplit=1)
    return effect, "".join(rest).partition(". ")[0]


def with_tables(page: str, rows: list[Patch]) -> str:
    """Return the page with new tables; raise ValueError unless each module with a patch is in one of them."""
    modules = [module for table in TABLE.finditer(page) for module in table[2].split()]
    if sorted(modules) != sorted({patch.module for patch in rows}):
        raise ValueError(f"each module with a patch belongs into one table of {PAGE}, which has {sorted(modules)}")

    def table_of(table: re.Match[str]) -> str:
        lines = [patch.row() for module in table[2].split() for patch in rows if patch.module == module]
        return f"{table[1]}\n{HEAD}{''.join(lines)}\n{table[3]}"

    return TABLE.sub(table_of, page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), list(patches())), encoding="utf-8")
