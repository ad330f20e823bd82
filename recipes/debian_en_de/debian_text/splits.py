"""Splits by document: no document is in two of them, and no held-out English sentence is trained on."""

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable

from debian_text.alignment import Pair

HELD_OUT = {"valid": range(12, 24), "test": range(12)}  # of 1,000 documents
FEWEST_WORDS = 5  # of a held-out sentence
LEFT_OUT = ("gimp-help", "lilypond")  # the descriptions of these packages
DIFFERENCES = re.compile(r"[\W\d]+")


def split_of(document: str) -> str:
    number = int(hashlib.sha256(document.encode()).hexdigest(), 16) % 1000
    return next((split for split, numbers in HELD_OUT.items() if number in numbers), "train")


def sentence_key(pair: Pair) -> str:
    """Return the English sentence without case, digits and punctuation, which make no other sentence."""
    return DIFFERENCES.sub(" ", pair.english.lower()).strip()


def first_of_each(pairs: Iterable[Pair], key: Callable[[Pair], Hashable]) -> dict[Hashable, Pair]:
    firsts: dict[Hashable, Pair] = {}
    for pair in pairs:
        firsts.setdefault(key(pair), pair)
    return firsts


def split_pairs(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Return the pairs of each split, no English sentence twice in it; of copies the first stays."""
    aligned = (pair for pair in pairs if not any(word in pair.document for word in LEFT_OUT))
    distinct = first_of_each(aligned, key=lambda pair: (pair.english, pair.german)).values()
    documents: dict[str, list[Pair]] = {split: [] for split in ("train", *HELD_OUT)}
    for pair in sorted(distinct, key=lambda pair: pair.document):
        documents[split_of(pair.document)].append(pair)
    sentences = {split: first_of_each(each, key=sentence_key) for split, each in documents.items()}
    splits = {"train": list(sentences["train"].values())}
    for split in HELD_OUT:
        new = (pair for key, pair in sentences[split].items() if key not in sentences["train"])
        splits[split] = [pair for pair in new if len(pair.english.split()) >= FEWEST_WORDS]
    return splits
