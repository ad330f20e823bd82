"""docs/reference/patches.md has the tables that `python tools/compatibility.py` makes of the patches' docstrings."""

import runpy
from typing import Any

from programs.program import REPOSITORY

TOOL: dict[str, Any] = runpy.run_path(str(REPOSITORY / "tools" / "compatibility.py"))
PAGE = (REPOSITORY / TOOL["PAGE"]).read_text()


def test_the_page_is_up_to_date() -> None:
    patches = list(TOOL["patches"](REPOSITORY / TOOL["FOLDER"]))
    assert len(patches) > 40
    assert all(patch.effect and patch.cause for patch in patches)
    assert TOOL["with_tables"](PAGE, patches) == PAGE, "run python tools/compatibility.py"
