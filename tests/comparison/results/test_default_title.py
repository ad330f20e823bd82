"""The title of a comparison whose grid has none."""

import pytest

from realformer_nmt.comparison.results.default_title import default_title
from realformer_nmt.model.presets import FAMILIES

THREE = ("pre_ln", "admin", "realformer")


@pytest.mark.parametrize(
    ("corpus", "languages", "families", "depths", "title"),
    [
        ("multi30k_en_de", "en de", THREE, "6 18", "Multi30k En-De: pre_ln, admin, realformer at 6 and 18 layers"),
        ("own files", "en de", ("admin",), "6 18 60-12", "Own files En-De: admin at 6, 18 and 60-12 layers"),
        ("my_texts", "", ("post_ln",), "1", "My texts: post_ln at 1 layer"),
        ("data-bin", "", tuple(FAMILIES), "4", f"Data-bin: {len(FAMILIES)} families at 4 layers"),
    ],
)
def test_it_names_corpus_families_and_depths(
    corpus: str, languages: str, families: tuple[str, ...], depths: str, title: str
) -> None:
    assert default_title(corpus, languages.split(), families, depths.split()) == title
