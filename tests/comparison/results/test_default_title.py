"""The title of a comparison whose grid has none."""

import pytest

from realformer_nmt.comparison.results.default_title import default_title
from realformer_nmt.model.presets import FAMILIES

THREE = ("pre_ln", "admin", "realformer")


@pytest.mark.parametrize(
    ("corpus", "languages", "families", "depths", "title"),
    [
        ("multi30k_en_de", "en de", THREE, "6 18", "Multi30k En-De: Pre-LN, ADMIN, RealFormer at 6 and 18 layers"),
        ("iwslt14_de_en", "de en", ("resi_dual",), "6", "IWSLT14 De-En: ResiDual at 6 layers"),
        ("wmt14_en_fr", "en fr", ("admin",), "6 18 60-12", "WMT14 En-Fr: ADMIN at 6, 18 and 60-12 layers"),
        ("own files", "en de", ("realformer_post_ln",), "1", "Own files En-De: RealFormer Post-LN at 1 layer"),
        ("my_texts", "", ("gated_attention", "post_ln"), "4", "My texts: Gated attention, Post-LN at 4 layers"),
        ("zoo", "", ("sub_ln", "res_post", "rezero"), "6", "Zoo: Sub-LN, Res-Post-Norm, ReZero at 6 layers"),
        ("mine", "", ("res_post_norm",), "6", "Mine: Res-Post-Norm at 6 layers"),
        ("data-bin", "", tuple(FAMILIES), "4", f"Data-bin: {len(FAMILIES)} families at 4 layers"),
    ],
)
def test_it_names_corpus_families_and_depths(
    corpus: str, languages: str, families: tuple[str, ...], depths: str, title: str
) -> None:
    assert default_title(corpus, languages.split(), families, depths.split()) == title
