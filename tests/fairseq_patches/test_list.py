"""The list of patches: in apply(), in docs/compatibility.md, and in what fairseq evaluates."""

import ast
import inspect
import re
from pathlib import Path

import fairseq
from program import REPOSITORY

from realformer_nmt import fairseq_patches
from realformer_nmt.fairseq_patches import literal_options

PAGE = REPOSITORY / "docs/compatibility.md"
FAIRSEQ = Path(fairseq.__file__).parent
EVAL = re.compile(r"(?<![\w.])eval\((?!\))")


def applied() -> list[str]:
    (function,) = ast.parse(inspect.getsource(fairseq_patches.apply.__wrapped__)).body
    assert isinstance(function, ast.FunctionDef)
    return [ast.unparse(line).removesuffix("()") for line in function.body[1:]]


def test_the_page_names_each_patch_of_the_list_and_no_other() -> None:
    modules = "|".join({name.partition(".")[0] for name in applied()})
    named = re.findall(rf"`((?:{modules})\.\w+)`", PAGE.read_text())
    assert sorted(named) == sorted(applied())


def evaluating(folder: Path) -> set[str]:
    """Modules below a folder that call eval."""
    sources = [path for path in folder.rglob("*.py") if "examples" not in path.parts]
    found = [path for path in sources if EVAL.search(re.sub(r"def eval\(", "", path.read_text()))]
    return {".".join(path.relative_to(folder.parent).with_suffix("").parts) for path in found}


def test_whatever_fairseq_evaluates_is_known() -> None:
    assert evaluating(FAIRSEQ) == {f"fairseq.{name}" for name in literal_options.EVALUATING}
    assert evaluating(FAIRSEQ.with_name("fairseq_cli")) == set(literal_options.COMMANDS)
