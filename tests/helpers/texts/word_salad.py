"""Sentences to score."""

import numpy as np

WORDS = ["the", "a", "U.S.", "100%", "don't", "well-known", "&amp;", "3.5", "(sic)", "dog", "cat,", "ran.", "Ü", "x"]


def texts(seed: int = 1, number: int = 40, words: list[str] = WORDS) -> tuple[list[str], list[str]]:
    """Hypotheses and references that share most of their words."""
    chance = np.random.default_rng(seed)
    reference = [list(chance.choice(words, chance.integers(4, 20))) for _ in range(number)]
    changed = [[w if chance.random() < 0.8 else str(chance.choice(words)) for w in line] for line in reference]
    return [" ".join(line) for line in changed], [" ".join(line) for line in reference]
