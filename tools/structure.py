"""Count how much of the code is typed, plain and said once: `python tools/structure.py [COMMIT]` prints the table.

tests/documents/test_structure.py holds each figure to a bound, so that none grows again.
"""

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "realformer_nmt"
SCRIPTS = "docs/results/scripts"
BESIDE = ("benchmarks", "reliability", "tests", "tools", SCRIPTS)  # where names and docstrings alone are counted
REPOSITORY = Path(__file__).resolve().parents[1]
BANNED = frozenset((REPOSITORY / "tools" / "banned_names.txt").read_text().split())
GENITIVES = ("Of ", "By ", "As ", "That ", "With ", "What ", "Whether ", "Those ", "Where ", "And ", "In ")
TASKS = ("language_modeling", "masked_lm", "sentence_prediction", "question_answering", "span_masked_lm")
SUBWORDS = ("sentencepiece", "moses_bpe")
PACKAGES = {"sacremoses", "fastbpe"}  # in a list with one of these, sentencepiece is a package or fairseq's --bpe
OF_FAIRSEQ = ("model", "single_stack", "checkpoints", "fairseq_patches", "questions")  # which get its Namespace


class Source(NamedTuple):
    path: Path  # within its folder
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.path.parts[0]


def sources(folder: str, commit: str | None = None) -> list[Source]:
    """Return the modules of a folder, in the working tree or in a commit."""
    texts = of_commit(folder, commit) if commit else of_tree(folder)
    return [Source(path, text, ast.parse(text)) for path, text in sorted(texts)]


def of_tree(folder: str) -> Iterator[tuple[Path, str]]:
    for file in (REPOSITORY / folder).rglob("*.py"):
        yield file.relative_to(REPOSITORY / folder), file.read_text(encoding="utf-8")


def of_commit(folder: str, commit: str) -> Iterator[tuple[Path, str]]:
    command = ["git", "-C", str(REPOSITORY), "archive", commit, "*.py"]
    content = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.startswith(f"{folder}/") else None
            if file:
                yield Path(member.name).relative_to(folder), file.read().decode()


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def takes_namespace(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("Namespace" in ast.unparse(each.annotation) for each in parameters(function) if each.annotation)


def untyped_tables(source: Source) -> int:
    """Count annotations of dict[str, Any], and names that stand for it."""
    names = sum(isinstance(node, ast.Name) and node.id == "Record" for node in ast.walk(source.tree))
    return names + source.text.count("dict[str, Any]")


def banned_names(source: Source) -> Iterator[str]:
    """Yield each parameter and each name that is assigned, if words.md bans it."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.arg) and node.arg in BANNED:
            yield node.arg
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in BANNED:
            yield node.id


def genitive_docstrings(source: Source) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(source.tree) if isinstance(node, kinds)]
    return sum(docstring.startswith(GENITIVES) for docstring in docstrings)


def says(source: Source, names: tuple[str, ...]) -> bool:
    packages = {constant for node in ast.walk(source.tree) for constant in listed_packages(node)}
    constants = [node for node in ast.walk(source.tree) if isinstance(node, ast.Constant)]
    return any(constant.value in names for constant in constants if constant not in packages)


def listed_packages(node: ast.AST) -> list[ast.Constant]:
    """Return the strings of a tuple or the keys of a dictionary that lists packages."""
    values = node.elts if isinstance(node, ast.Tuple) else node.keys if isinstance(node, ast.Dict) else []
    constants = [value for value in values if isinstance(value, ast.Constant)]
    return constants if PACKAGES & {constant.value for constant in constants} else []


def repeated_classes(modules: list[Source]) -> int:
    names = [node.name for source in modules for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    return sum(number > 1 for number in Counter(names).values())


def largest_room(modules: list[Source]) -> int:
    return max(Counter(source.path.parent for source in modules if source.path.name != "__init__.py").values())


def figures(modules: list[Source]) -> dict[str, float]:
    every = [function for source in modules for function in functions(source)]
    lengths = [(function.end_lineno or 0) - function.lineno + 1 for function in every]
    outside_fairseq = [
        function for source in modules if source.room not in OF_FAIRSEQ for function in functions(source)
    ]
    return {
        "functions that take a Namespace": sum(map(takes_namespace, outside_fairseq)),
        "untyped tables": sum(map(untyped_tables, modules)),
        "options of the commands": sum(source.text.count("= option(") for source in modules),
        "argument parsers": sum(source.text.count("ArgumentParser(") for source in modules),
        "searches in argv": sum(source.text.count("words.index(") for source in modules),
        "files in the largest room": largest_room(modules),
        "files that say a task's name": sum(says(source, TASKS) for source in modules),
        "files that say a subword method's name": sum(says(source, SUBWORDS) for source in modules),
        "class names defined twice": repeated_classes(modules),
        "banned names": sum(1 for source in modules for _ in banned_names(source)),
        "functions called demand": sum("demand" in function.name for function in every),
        "docstrings that complete a name": sum(map(genitive_docstrings, modules)),
        "functions": len(every),
        "functions over 40 lines": sum(length > 40 for length in lengths),
        "lines of the package": count_lines(modules),
    }


def count_lines(modules: list[Source]) -> int:
    return sum(source.text.count("\n") for source in modules)


def weights(commit: str | None) -> dict[str, float]:
    """Return the lines beside the package, and the megabytes of the records in the working tree."""
    files = [file for file in (REPOSITORY / "docs" / "results").rglob("*.*") if file.is_file()]
    records = [file.stat().st_size for file in files if file.suffix != ".pyc"]
    modules = {folder: sources(folder, commit) for folder in BESIDE}
    modules["tools/authors_code"] = [source for source in modules["tools"] if source.room == "authors_code"]
    lines = {folder: count_lines(each) for folder, each in modules.items()}
    lines["tools"] -= lines["tools/authors_code"]
    return {
        **{f"lines of {folder}": number for folder, number in lines.items()},
        "megabytes of docs/results": round(sum(records) / 1e6, 1),
    }


def figures_beside(modules: list[Source]) -> dict[str, float]:
    return {
        "banned names beside the package": sum(1 for source in modules for _ in banned_names(source)),
        "docstrings that complete a name beside it": sum(map(genitive_docstrings, modules)),
    }


if __name__ == "__main__":
    commit = sys.argv[1] if sys.argv[1:] else None
    beside = [source for folder in BESIDE for source in sources(folder, commit)]
    for name, value in {**figures(sources(PACKAGE, commit)), **figures_beside(beside), **weights(commit)}.items():
        print(f"{name:42} {value:>8,g}")
