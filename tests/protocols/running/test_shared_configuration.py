"""Configurations of which a part is shared, against fairseq's own of the same flags."""

from argparse import Namespace
from pathlib import Path

import pytest
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import DictConfig, OmegaConf

from realformer_nmt.protocols.running import shared_configuration, updates
from realformer_nmt.protocols.running.shared_configuration import configuration

OURS = ["--user-dir", "realformer_nmt", "--max-tokens", "100", "--optimizer", "adam", "--lr", "0.1"]
LINEAR = ["--lr-scheduler", "linear", "--warmup-updates", "2", "--total-num-update", "9"]
CELLS = [
    ["--arch", "realformer_tiny", "--seed", "1", "--save-dir", "a/b-c", *LINEAR],
    ["--arch", "realformer_tiny", "--seed", "2", "--dropout", "0.3", "--save-dir", "other", "--log-file", "x", *LINEAR],
    ["--arch", "synthesizer_random_wmt_en_fr_60l_12l", "--score-carry", "mean", "--optimizer", "radam"],
    ["--arch", "post_ln_lm_tiny", "--task", "language_modeling", "--tokens-per-sample", "64", "--seed", "3"],
    ["--arch", "admin_etc_tiny", "--task", "masked_lm", "--encoder-window", "9", "--encoder-layers", "3"],
    ["--arch", "transformer_iwslt_de_en", "--seed", "7"],
    ["--arch", "pre_ln_tiny", "--save-dir", "it's [a] path, or {two}"],
]


def flags(words: list[str]) -> Namespace:
    return updates.flags(["data", *OURS, *words])


def plain(cfg: DictConfig) -> object:
    tables = {name: OmegaConf.to_container(each) for name, each in cfg.items() if isinstance(each, DictConfig)}
    return {name: vars(each) if isinstance(each, Namespace) else each for name, each in cfg.items()} | tables


@pytest.mark.parametrize("words", CELLS, ids=" ".join)
def test_it_is_the_one_that_fairseq_makes(words: list[str]) -> None:
    for cell in (words, CELLS[1]):  # after another that shares its part, or not
        actual, expected = configuration(vars(flags(cell))), convert_namespace_to_omegaconf(flags(cell))
        assert plain(actual) == plain(expected)
        assert repr(plain(actual)) == repr(plain(expected))  # of the same types, too: 1 == 1.0


def test_cells_of_a_grid_share_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    converted: list[Namespace] = []
    stock_config = convert_namespace_to_omegaconf(flags(["--arch", "pre_ln_tiny", "--max-update", "123"]))

    def convert(args: Namespace) -> DictConfig:
        converted.append(args)
        return stock_config

    monkeypatch.setattr(shared_configuration, "convert_namespace_to_omegaconf", convert)
    for seed, arch in enumerate(("pre_ln_tiny", "admin_wmt_en_de_18l", "realformer")):
        cell = ["--arch", arch, "--seed", str(seed), "--save-dir", str(tmp_path / arch), "--max-update", "123"]
        cfg = configuration(vars(flags(cell)))
        assert (cfg.model._name, cfg.common.seed, cfg.checkpoint.save_dir) == (arch, seed, str(tmp_path / arch))
    assert len(converted) == 1
