"""The decorator of a patch, and the list of what fairseq evaluates."""

import inspect
import re
from pathlib import Path

import fairseq
import pytest

from realformer_nmt.fairseq_patches.options import literal_options
from realformer_nmt.fairseq_patches.patch import Original, patch

FAIRSEQ = Path(fairseq.__file__).parent
EVAL = re.compile(r"(?<![\w.])eval\((?!\))")


class Shop:
    def price(self, number: int, *, each: int = 2) -> int:
        """Return the price."""
        return number * each

    @staticmethod
    def name() -> str:
        return "shop"


def test_a_patch_gets_the_original_and_keeps_its_name_and_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("price", "name"):
        monkeypatch.setattr(Shop, name, inspect.getattr_static(Shop, name))  # set back when the test ends

    @patch(Shop, "price")
    def reduce(original: Original, shop: Shop, number: int, **options: int) -> object:
        """Reduce prices by 1."""
        return original(shop, number, **options) - 1

    assert Shop().price(3) == 6  # not before it is applied
    reduce()
    assert (Shop().price(3), Shop().price(3, each=5)) == (5, 14)
    assert (Shop.price.__name__, Shop.price.__doc__) == ("price", "Return the price.")
    assert (reduce.__name__, reduce.__doc__) == ("reduce", "Reduce prices by 1.")
    patch(Shop, "name")(lambda original: original().upper())()
    assert Shop.name() == Shop().name() == "SHOP"


def evaluating(folder: Path) -> set[str]:
    """Modules below a folder that call eval."""
    sources = [path for path in folder.rglob("*.py") if "examples" not in path.parts]
    callers = [path for path in sources if EVAL.search(re.sub(r"def eval\(", "", path.read_text()))]
    return {".".join(path.relative_to(folder.parent).with_suffix("").parts) for path in callers}


def test_whatever_fairseq_evaluates_is_known() -> None:
    assert evaluating(FAIRSEQ) == {f"fairseq.{name}" for name in literal_options.EVALUATING}
    assert evaluating(FAIRSEQ.with_name("fairseq_cli")) == set(literal_options.COMMANDS)
