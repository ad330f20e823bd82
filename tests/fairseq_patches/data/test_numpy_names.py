"""Names that numpy and torch removed and fairseq still uses: patched, or in docs/compatibility.md."""

import re
from importlib.util import find_spec
from pathlib import Path

import fairseq
import numpy as np
import pytest
from programs.program import REPOSITORY

FAIRSEQ = Path(fairseq.__file__).parent
NOT_PATCHED = "speech, CRF layers, `--pipeline-model-parallel`"
PIPELINE = "fairseq/model_parallel/models/pipeline_parallel_transformer/model.py"
USES = {  # in fairseq's sources: the patch, or the row of "Not patched"
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
    uses = {f"{path.relative_to(FAIRSEQ.parent)} {use}" for path in sources for use in removed_uses(path.read_text())}
    assert uses
    assert uses <= set(USES)  # an older numpy still has some of them
    pages = [(REPOSITORY / "docs" / page).read_text() for page in ("compatibility.md", "reference/patches.md")]
    assert all(any(answer in page for page in pages) for answer in USES.values())


def removed_uses(code: str) -> set[str]:
    names = (
        set(re.findall(r"\bnp\.(\w+)", code)) if re.search(r"^\s*import numpy as np$", code, re.MULTILINE) else set()
    )
    modules = re.findall(r"^\s*from (torch(?:\.\w+)*) import", code, re.MULTILINE)
    return {f"np.{name}" for name in names if not hasattr(np, name)} | {name for name in modules if not exists(name)}


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
