"""Names of served models, and what is said of them."""

from pathlib import Path

from realformer_nmt.model.presets import FAMILIES, PRESETS
from realformer_nmt.serving import served_models


def test_a_model_is_called_as_its_folder_and_the_second_of_a_name_has_a_number(tmp_path: Path) -> None:
    runs = [Path(name) for name in ("a/post-6", "b/post-6/", "a/post-6-2", "c/post-6", "average.pt", "x/../x/post.pt")]
    paths = served_models.names([tmp_path / run for run in runs])
    assert list(paths) == ["post-6", "post-6-2", "post-6-2-2", "post-6-3", "average", "post"]
    assert list(paths.values()) == [tmp_path / run for run in runs]


def test_the_family_of_every_architecture_is_that_of_its_name() -> None:
    for arch, options in PRESETS.items():
        family = served_models.family({"norm": "layer", "heads": "plain", **options, "_name": arch})
        assert arch == family or arch.startswith(f"{family}_")
        assert {name: options[name] for name in FAMILIES[family]} == FAMILIES[family]


def test_what_is_no_family_says_its_parts_or_its_arch() -> None:
    parts = FAMILIES["post_ln"] | {"residual_topology": "dual", "score_carry": "sum"}
    assert served_models.family({**parts, "_name": "realformer_tiny"}) == "dual none dot sum"
    assert served_models.family({"_name": "transformer", "encoder_layers": 6}) == "transformer"
    assert served_models.layers({"encoder_layers": 12, "decoder_layers": 2}) == (12, 2)
    assert served_models.layers({"encoder_layers": "12"}) is None
