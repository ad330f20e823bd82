"""`realformer-nmt archs` against parameters counted by hand."""

import json

import pytest
from programs.program import realformer_nmt

from realformer_nmt.cli import archs
from realformer_nmt.model import presets
from realformer_nmt.model.config import TranslationConfig

VOCABULARY, WIDTH, FFN = 32768, 512, 2048


def parameters(arch: str) -> int:
    number = archs.describe(arch, "", VOCABULARY)["parameters"]
    assert isinstance(number, int)
    return number


def test_the_table_says_the_same(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archs, "FAMILIES", {"resi_dual": presets.FAMILIES["resi_dual"]})
    assert archs.ArchsRequest(vocabulary=100).run() == 0
    header, _, _, row, *_ = capsys.readouterr().out.splitlines()
    headings = "arch idea topology scaling source carry norm heads encoder decoder width parameters"
    assert " ".join(header.split()) == headings
    assert " ".join(row.split()[:11]) == "resi_dual_tiny norm dual none dot none layer plain 2 2 64"


def test_a_list_without_parameters_is_of_families_and_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert archs.ArchsRequest().run() == 0
    header, _, *table, _, sizes = capsys.readouterr().out.splitlines()
    assert header.split()[-1] == "heads"
    assert [row.split()[0] for row in table] == [*presets.FAMILIES]
    assert sizes.endswith("wmt_en_fr, wmt_en_fr_60l_12l.")


def test_a_family_without_a_size_has_the_defaults_of_the_options() -> None:
    defaults = vars(TranslationConfig())
    shape = [*[*archs.COLUMNS][7:11], "decoder_embed_dim", "encoder_ffn_embed_dim", "encoder_attention_heads"]
    assert {name: archs.DEFAULTS[name] for name in shape} == {name: defaults[name] for name in shape}


def test_choices_layers_and_width_of_every_arch() -> None:
    listed = realformer_nmt("archs", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    rows = {row["arch"]: row for row in json.loads(listed.stdout)}
    row = rows["realformer_wmt_en_fr_60l_12l"]
    choices = [row[f"{name}"] for name in ("residual_topology", "residual_scaling", "score_source", "score_carry")]
    assert choices == ["post", "admin", "dot", "mean"]
    assert (row["encoder_layers"], row["decoder_layers"], row["encoder_embed_dim"]) == (60, 12, 512)
    assert rows["resi_dual"]["encoder_layers"] == 6  # a bare family: the sizes that flags replace
    assert len(rows) == 55 * 8


def test_parameters() -> None:
    attention = 4 * (WIDTH * WIDTH + WIDTH)
    norm = 2 * WIDTH
    feed_forward = WIDTH * FFN + FFN + FFN * WIDTH + WIDTH
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    post_ln = VOCABULARY * WIDTH + 18 * (encoder_layer + decoder_layer)
    assert parameters("post_ln_wmt_en_de_18l") == post_ln
    assert parameters("pre_ln_wmt_en_de_18l") == post_ln + 2 * norm
    assert parameters("realformer_wmt_en_de_18l") == parameters("admin_wmt_en_de_18l") == post_ln + (18 * 5 - 2) * WIDTH


def test_parameters_of_synthesised_scores() -> None:
    """Each of 12 layers at base width adds what docs/models.md says to a post_ln without queries and keys."""
    bare = parameters("synthesizer_fixed_random_wmt_en_de")
    a_layer = {
        "post_ln": 2 * (WIDTH * WIDTH + WIDTH),
        "synthesizer_dense": WIDTH * WIDTH + WIDTH + 64 * 256,
        "synthesizer_dense_per_head": 8 * (64 * 64 + 64 + 64 * 256 + 256),
        "synthesizer_random": 8 * 256 * 256,
        "synthesizer_factorised_dense": WIDTH * (16 + 16),
        "synthesizer_factorised_random": 2 * 8 * 256 * 8,
    }
    for family, number in a_layer.items():
        assert parameters(f"{family}_wmt_en_de") == bare + 12 * number, family
