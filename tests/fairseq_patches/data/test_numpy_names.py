"""Names that numpy and torch removed and fairseq still uses: patched, or in docs/compatibility.md."""

import ast
import importlib
import inspect
import types
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fairseq
import numpy as np
import pytest
from programs.program import REPOSITORY

FAIRSEQ = Path(fairseq.__file__).parent
LIBRARIES = ("numpy", "torch")
NOT_PATCHED = "speech, CRF layers, `--pipeline-model-parallel`"
PIPELINE = "fairseq/model_parallel/models/pipeline_parallel_transformer/model.py"
USES = {  # in fairseq's sources: the patch, or the row of "Not patched"
    "fairseq/data/data_utils.py np.percentile(interpolation=)": "numpy_names.cut_lengths_into_buckets",
    "fairseq/data/language_pair_dataset.py np.compat": "numpy_names.name_whole_numbers",
    "fairseq/data/token_block_dataset.py np.compat": "numpy_names.name_whole_numbers",
    "fairseq/data/data_utils.py np.int": NOT_PATCHED,  # masks of speech
    "fairseq/modules/dynamic_crf_layer.py np.float": NOT_PATCHED,
    f"{PIPELINE} torch.distributed.pipeline.sync": NOT_PATCHED,
    f"{PIPELINE} torch.distributed.pipeline.sync.utils": NOT_PATCHED,
}


def test_whatever_fairseq_uses_of_what_was_removed_is_patched_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(np, "compat", raising=False)  # as numpy is without the patch
    sources = [path for path in FAIRSEQ.rglob("*.py") if "examples" not in path.parts]
    sources += FAIRSEQ.with_name("fairseq_cli").glob("*.py")
    uses = {f"{path.relative_to(FAIRSEQ.parent)} {use}" for path in sources for use in removed_uses(path)}
    assert uses
    assert uses <= set(USES)  # an older numpy still has some of them
    pages = [(REPOSITORY / "docs" / page).read_text() for page in ("compatibility.md", "reference/patches.md")]
    assert all(any(answer in page for page in pages) for answer in USES.values())


def removed_uses(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    modules = imported_modules(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and is_of_a_library(node.module) and not exists(node.module):
            yield str(node.module)
        elif isinstance(node, ast.Attribute):
            owner = value_of(node.value, modules)
            if isinstance(owner, types.ModuleType) and not hasattr(owner, node.attr):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            for name in unknown_keywords(node, value_of(node.func, modules)):
                yield f"{ast.unparse(node.func)}({name}=)"


def imported_modules(tree: ast.Module) -> Mapping[str, Any]:
    """Return the modules of numpy and torch by the names under which a file imports them."""
    names = [name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    roots = {name.name.partition(".")[0] for name in names if not name.asname}
    modules = {name.asname: name.name for name in names if name.asname} | {root: root for root in roots}
    return {name: importlib.import_module(module) for name, module in modules.items() if is_of_a_library(module)}


def is_of_a_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in LIBRARIES


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def value_of(node: ast.expr, modules: Mapping[str, Any]) -> Any:
    """Return what an expression such as np.linalg.norm names, or None."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    return getattr(value_of(node.value, modules), node.attr, None) if isinstance(node, ast.Attribute) else None


def unknown_keywords(call: ast.Call, function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # nothing that can be called, or written in C
        return []
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return []
    return [keyword.arg for keyword in call.keywords if keyword.arg and keyword.arg not in parameters]
