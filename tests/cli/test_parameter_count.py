"""The formulas of `realformer-nmt archs` against models that are built."""

from argparse import Namespace
from itertools import pairwise

import pytest

from realformer_nmt.cli.parameter_count import BASE, parameters
from realformer_nmt.model import meta_model, presets
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.parts import PARTS

VOCABULARY = 1000


def built(preset: presets.Preset) -> int:
    options = {**vars(TranslationConfig()), **preset, "share_all_embeddings": True}
    return meta_model.parameters(Namespace(**options), VOCABULARY, VOCABULARY)


@pytest.mark.parametrize("topology", PARTS["residual_topology"])
@pytest.mark.parametrize("scaling", PARTS["residual_scaling"])
def test_every_topology_with_every_scaling(topology: str, scaling: str) -> None:
    preset = presets.family(topology, scaling, "dot", "none") | presets.SIZES["tiny"] | {"decoder_layers": 3}
    assert parameters(preset, VOCABULARY) == built(preset)


@pytest.mark.parametrize("source", [*PARTS["score_source"], *map("+".join, pairwise(PARTS["score_source"]))])
def test_every_source_and_mixtures(source: str) -> None:
    preset = presets.family("post", "none", source, "none") | presets.SIZES["tiny"]
    assert parameters(preset, VOCABULARY) == built(preset)


@pytest.mark.parametrize("family", presets.FAMILIES)
def test_every_family_in_a_size_of_a_paper(family: str) -> None:
    preset = presets.PRESETS[f"{family}_iwslt_de_en"]
    assert parameters(preset, VOCABULARY) == built(preset)


def test_a_family_without_a_size_has_the_size_of_the_options() -> None:
    defaults = vars(TranslationConfig())
    shape = {name: value for name, value in BASE.items() if "dropout" not in name}
    assert shape == {name: defaults[name] for name in shape}
