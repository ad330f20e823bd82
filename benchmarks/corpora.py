"""How many pairs a second each stage of `realformer-nmt prepare` does on one core, on a generated corpus.

    python benchmarks/corpora.py                      # 500,000 pairs, three rounds
    python benchmarks/corpora.py --pairs 20000 --rounds 5 --json figures.json

Words are made of syllables and follow Zipf's law; sentences have about 25, with the punctuation of news text.
"""

import argparse
import functools
import itertools
import json
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from realformer_nmt.common.stages.versions import installed, processor
from realformer_nmt.corpora.manifest_schema import Lengths
from realformer_nmt.corpora.preparing.binarise import binarise
from realformer_nmt.corpora.preparing.cleaning import Hyphens, Steps, cleaned, fault
from realformer_nmt.corpora.preparing.prepare import PACKAGES
from realformer_nmt.corpora.read_segments import blocks
from realformer_nmt.corpora.subwords.subword_methods import DICTIONARY, METHODS
from realformer_nmt.corpora.subwords.subwords import TrainingTexts, encoder, learn_model, split
from realformer_nmt.corpora.tokenise import tokeniser

TYPES = 400_000  # different words
EN_FR = 40_842_333  # pairs of WMT'14
LENGTHS = Lengths(1, 250, 1.5, "before_bpe", True)
SYLLABLES = [
    first + second for first in "bcdfghjklmnprstvwz" for second in ("a", "e", "i", "o", "u", "en", "er", "ung")
]
LANGUAGES = ("en", "de")
Counted = Callable[[], int]  # does the work, returns the number of pairs


def generate(folder: Path, pairs: int, seed: int) -> TrainingTexts:
    """A side's sentence has about the length of the other's."""
    chance = np.random.default_rng(seed)
    words = vocabulary(chance)
    paths = [folder / f"raw.{language}" for language in LANGUAGES]
    with paths[0].open("w", encoding="utf-8") as one, paths[1].open("w", encoding="utf-8") as two:
        for start in range(0, pairs, 10_000):
            lengths = np.clip(chance.lognormal(3.1, 0.5, min(10_000, pairs - start)), 2, 120)
            for file, scale in ((one, 1.0), (two, 0.95)):
                counts = np.maximum(1, lengths * scale).astype(int)
                ranks = iter((TYPES ** chance.random(counts.sum()) - 1).astype(int).tolist())  # Zipf, exponent 1
                dice = iter(chance.random(counts.sum()).tolist())
                file.writelines(sentence(words, ranks, dice, count) for count in counts)
    return TrainingTexts(paths[0], paths[1], pairs)


def vocabulary(chance: np.random.Generator) -> list[str]:
    """Frequent words are short."""
    syllables = 1 + (np.log10(1 + np.arange(TYPES)) * chance.random(TYPES)).astype(int)
    picked = iter(chance.choice(SYLLABLES, syllables.sum()).tolist())
    return ["".join(itertools.islice(picked, number)) for number in syllables]


def sentence(words: list[str], ranks: Iterator[int], dice: Iterator[float], count: int) -> str:
    return " ".join(punctuated(words[next(ranks)], next(dice)) for _ in range(count)).capitalize() + ".\n"


def punctuated(word: str, die: float) -> str:
    """One word in eight bears marks: half of those a comma."""
    if die > 1 / 8:
        return word
    if die > 1 / 16:
        return f"{word},"
    forms = (
        word.title(),
        f"{word}-{word}",
        f"({word})",
        f"\u201e{word}\u201c",
        f"{word}'s",
        f"{len(word)},5",
        f"{word}:",
    )
    return forms[int(die * 16 * len(forms))]


def steps(tokenise: bool) -> list[Steps]:
    hyphens: Hyphens | None = "aggressive" if tokenise else None
    return [Steps(language, True, False, True, hyphens) for language in LANGUAGES]


def read(texts: TrainingTexts) -> int:
    return sum(block.pairs for block in blocks(texts.source, texts.target))


def clean(texts: TrainingTexts, tokenise: bool, out: Path) -> int:
    tokeniser.cache_clear()  # every round begins with an empty memory
    number = 0
    sides = steps(tokenise)
    with (out / "train.en").open("wb") as one, (out / "train.de").open("wb") as two:
        for block in blocks(texts.source, texts.target):
            pairs = zip(*(cleaned(side, step) for side, step in zip(block[:2], sides, strict=True)), strict=True)
            clean_pairs = [(source, target) for source, target in pairs if fault(source, target, LENGTHS) is None]
            one.write("".join(f"{source}\n" for source, _ in clean_pairs).encode())
            two.write("".join(f"{target}\n" for _, target in clean_pairs).encode())
            number += block.pairs
    return number


def encode(texts: TrainingTexts, method: str, model: Path, out: Path) -> int:
    apply = encoder(METHODS[method], model)
    number = 0
    with (out / "train.en").open("wb") as one, (out / "train.de").open("wb") as two:
        for block in blocks(texts.source, texts.target):
            for file, side in zip((one, two), block[:2], strict=True):
                file.write("".join(f"{line}\n" for line in apply(split(side))).encode())
            number += block.pairs
    return number


def measure(name: str, work: Counted, rounds: int) -> dict[str, object]:
    """Return pairs per second of processor time of this process and its children: other users hardly change it."""
    speeds = []
    for _ in range(rounds):
        start = sum(os.times()[:4])
        pairs = work()
        speeds.append(pairs / (sum(os.times()[:4]) - start))
    median = statistics.median(speeds)
    figures = {"median": round(median), "lowest": round(min(speeds)), "highest": round(max(speeds))}
    hours = round(EN_FR / median / 3600, 2)
    speed = f"{figures['median']:>9,} pairs/s ({figures['lowest']:,} to {figures['highest']:,})"
    print(f"{name:36} {speed}, {hours:.2f} core hours for WMT'14 En-Fr", flush=True)
    return {"stage": name, "pairs_per_second": figures, "core_hours_for_en_fr": hours}


def timed(name: str, work: Callable[[], object]) -> dict[str, object]:
    """Return the seconds of work that depends on the number of different words more than on that of pairs."""
    start = sum(os.times()[:4])
    work()
    seconds = round(sum(os.times()[:4]) - start, 1)
    print(f"{name:36} {seconds:>9,} s", flush=True)
    return {"stage": name, "seconds": seconds}


def stages(texts: TrainingTexts, folder: Path, vocabulary_size: int, rounds: int) -> Iterator[dict[str, object]]:
    yield measure("read", lambda: read(texts), rounds)
    for method, name in (("sentencepiece", "without Moses"), ("moses_bpe", "with Moses")):
        text, model, pieces = (folder / f"{method}-{part}" for part in ("text", "model", "pieces"))
        for path in (text, model, pieces):
            path.mkdir()
        tokenised = METHODS[method].tokenised
        yield measure(f"read, clean, filter {name}", functools.partial(clean, texts, tokenised, text), rounds)
        clean_texts = TrainingTexts(text / "train.en", text / "train.de", texts.pairs)
        yield timed(f"learn {method}", functools.partial(learn_model, method, clean_texts, model, vocabulary_size, 1))
        yield measure(f"apply {method}", functools.partial(encode, clean_texts, method, model, pieces), rounds)
    for language, split_name in itertools.product(LANGUAGES, ("valid", "test")):
        (folder / "sentencepiece-pieces" / f"{split_name}.{language}").touch()
    yield measure("data-bin", functools.partial(binary, folder), rounds)


def binary(folder: Path) -> int:
    shutil.rmtree(folder / "data-bin", ignore_errors=True)
    dictionary = folder / "sentencepiece-model" / DICTIONARY
    lines = binarise(folder / "sentencepiece-pieces", LANGUAGES, folder / "data-bin", 1, [dictionary], True)
    return lines["train"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocabulary", type=int, default=32_000, help="pieces of sentencepiece, merges of BPE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    args = parser.parse_args()
    machine = {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    environment = {"python": platform.python_version(), **installed(*PACKAGES), **machine}
    print("\n".join(f"{key:15} {value}" for key, value in environment.items()), flush=True)
    with tempfile.TemporaryDirectory() as name:
        texts = generate(Path(name), args.pairs, args.seed)
        size = sum(path.stat().st_size for path in texts[:2])
        print(f"{args.pairs:,} pairs, {size / args.pairs:.0f} bytes each, {args.rounds} rounds, one core", flush=True)
        figures = list(stages(texts, Path(name), args.vocabulary, args.rounds))
    if args.json:
        report = {"pairs": args.pairs, "seed": args.seed, "environment": environment, "stages": figures}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
