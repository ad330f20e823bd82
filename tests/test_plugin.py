"""Families of a user's own that fairseq has already, or that no model can have."""

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY
from programs import commands
from programs.program import REPOSITORY

from realformer_nmt import plugin
from realformer_nmt.common.errors import UserError


@pytest.mark.parametrize("name", ["pre_ln", "transformer"])  # the second is fairseq's
def test_a_name_that_clashes_is_refused(name: str) -> None:
    plugin.register()
    before = dict(ARCH_MODEL_REGISTRY)
    with pytest.raises(ValueError, match=f"duplicate model architecture .{name}"):
        plugin.add_family(name)
    assert before == ARCH_MODEL_REGISTRY


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"topology": "pst"}, r"add_family\('mine'\): --residual-topology pst is not one of .*; did you mean post"),
        ({"norm": "lyer"}, r"add_family\('mine'\): --norm lyer is not one of layer, rms"),
        ({"source": "dot+dto"}, r"add_family\('mine'\): --score-source"),
        ({"topology": "attn_res", "scaling": "admin"}, r"add_family\('mine'\): --residual-topology attn_res has no sh"),
    ],
)
def test_parts_that_no_model_can_have_are_refused(parts: dict[str, str], message: str) -> None:
    plugin.register()
    before = dict(ARCH_MODEL_REGISTRY)
    with pytest.raises(UserError, match=message):
        plugin.add_family("mine", **parts)
    assert before == ARCH_MODEL_REGISTRY


ALONE = """
import sys
fairseq = sys.modules.pop("fairseq")  # as if nobody had imported it
import realformer_nmt
sys.modules["fairseq"] = fairseq
from realformer_nmt import plugin
plugin.add_family("mine")
plugin.register()
"""


def test_a_script_adds_a_family_before_it_loads_a_model() -> None:
    """The import alone does not register the package without fairseq; to load a model does."""
    python = commands.python_of_forks()  # which has imported fairseq alone
    done = commands.run([python, "-c", ALONE], environment={"PYTHONPATH": str(REPOSITORY)})
    assert done.returncode == 0, done.stderr
