"""docs/reference/patches.md has the tables that `python tools/compatibility.py` makes of the patches' docstrings."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from programs.program import REPOSITORY

TOOL: dict[str, Any] = runpy.run_path(str(REPOSITORY / "tools" / "compatibility.py"))
PAGE = (REPOSITORY / TOOL["PAGE"]).read_text()
LISTED = """from patches import first, second

def apply():
    second.repair()
    for patch in (first.repair, first.sew):
        patch()
    print.nothing()
"""
FIRST = '''"""About seams. Thread breaks."""

@patch(module, "name")
def repair(original):
    """Repair with --thread: without it a seam opens (issue 7). More."""

@patch(module, "other")
def sew(original):
    """Sew."""

def helper(): ...
'''


def test_the_page_is_up_to_date() -> None:
    patches = list(TOOL["patches"](REPOSITORY / TOOL["FOLDER"]))
    assert len(patches) > 40
    assert all(patch.effect and patch.cause for patch in patches)
    assert TOOL["with_tables"](PAGE, patches) == PAGE, "run python tools/compatibility.py"


def test_what_a_docstring_says_becomes_a_row_however_the_function_is_wrapped(tmp_path: Path) -> None:
    files = {"__init__": LISTED, "first": FIRST, "second": '"""Doors."""\ndef repair():\n    """Repair a door."""\n'}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    page = "<!-- patches: first second -->\nold\n<!-- end -->"
    assert re.findall(r"^\| (?!-|with)(.+) \|$", TOOL["with_tables"](page, list(TOOL["patches"](tmp_path))), re.M) == [
        "Repair with `--thread` | without it a seam opens (issue 7) | `first.repair`",
        "Sew | Thread breaks | `first.sew`",
        "Repair a door | Doors | `second.repair`",
    ]
    (tmp_path / "second.py").write_text('"""Doors."""\ndef repair(): ...\n')
    with pytest.raises(ValueError, match="repair has no docstring"):
        list(TOOL["patches"](tmp_path))
