"""Post-LN with 18 layers a side never learns what the source says; Pre-LN, ADMIN, RealFormer and ResiDual do.

Liu et al. 2020 (2004.08249), figure 1; He et al. 2021 (2012.11747), table 7: "failed". The suite trains one that learns
and one that does not.
"""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from programs.commands import fairseq as command
from programs.processes import said
from programs.reports import losses, updates

WORDS = [f"w{number}" for number in range(10)]
DEEP = ("--encoder-layers", 18, "--decoder-layers", 18)  # of width 64
SETTINGS = (  # Adam and the warm-up of the ADMIN runs, shortened: 2e-3 after 25 updates, then inverse square root
    *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--lr", 2e-3, "--max-tokens", 250, "--dropout", 0.1),
    *("--lr-scheduler", "inverse_sqrt", "--warmup-updates", 25, "--warmup-init-lr", 1e-7),
    *("--criterion", "cross_entropy", "--share-all-embeddings", "--seed", 1, "--no-save", "--disable-validation"),
    *("--cpu", "--num-workers", 0, "--log-format", "simple", "--log-interval", 10),
)


@pytest.fixture(scope="module")
def deep_corpus(once: Once) -> Path:
    """4,000 reversed sentences of three or four words out of 10."""
    return once("deep_reversals", write)


def write(folder: Path) -> None:
    chance = np.random.default_rng(2)
    sources = [chance.choice(WORDS, chance.integers(3, 5)) for _ in range(4000)]
    (folder / "train.src").write_text("".join(" ".join(words) + "\n" for words in sources))
    (folder / "train.tgt").write_text("".join(" ".join(words[::-1]) + "\n" for words in sources))
    languages = ("--source-lang", "src", "--target-lang", "tgt", "--joined-dictionary")
    said(command("preprocess", *languages, "--trainpref", folder / "train", "--destdir", folder), folder)


def unigram_loss(text: str) -> float:
    """Bits a token, sentence ends included, of a model that knows where a sentence ends, and the words' frequencies."""
    words = Counter(text.split())
    total = words.total()
    bits = sum(-count * math.log2(count / total) for count in words.values())
    return bits / (total + text.count("\n"))


@pytest.mark.parametrize(
    ("family", "learns", "within"),
    [
        ("post_ln", False, 50),
        ("realformer", True, 50),
        pytest.param("admin", True, 50, marks=pytest.mark.product),
        pytest.param("pre_ln", True, 50, marks=pytest.mark.product),
        pytest.param("resi_dual", True, 80, marks=pytest.mark.product),
    ],
)
def test_18_layers(family: str, learns: bool, within: int, deep_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    arguments = (deep_corpus, "--user-dir", user_dir, "--task", "translation", "--arch", f"{family}_tiny", *DEEP)
    log = said(command("train", *arguments, *SETTINGS, "--max-update", within), tmp_path)
    assert updates(log)[-1] == within
    bits_below = unigram_loss((deep_corpus / "train.tgt").read_text()) - losses(log)[-1]
    assert bits_below > 0.3 if learns else bits_below < 0.1, losses(log)
