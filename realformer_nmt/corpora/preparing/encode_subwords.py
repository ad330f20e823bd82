"""The stage of prepare that splits every text into subwords, and filters pairs by length if the protocol says so."""

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.corpora.manifest_schema import Lengths
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.preparing.clean_splits import Plan, splits
from realformer_nmt.corpora.preparing.cleaning import fault, without_fault
from realformer_nmt.corpora.preparing.prepare_record import SplitCounts
from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.read_segments import Block, blocks
from realformer_nmt.corpora.subwords.subword_methods import METHODS, SubwordMethod
from realformer_nmt.corpora.subwords.subwords import encoder, renew, split, tagged_sources, tagged_targets


class Encoded(NamedTuple):
    indices: list[int]  # of the remaining pairs, within the block
    source: bytes
    target: bytes
    tokens: tuple[int, int]
    dropped: Counter[str]


def write_subwords(
    texts: Path, model: Path, method: str, plan: Plan, workers: int, folder: Path, quiet: bool = False
) -> dict[str, SplitCounts]:
    """Write train.en ... as subwords, and the raw texts of the remaining pairs of valid and test."""
    renew(METHODS[method], model)
    counts = {}
    for name in splits(texts, plan.source):
        work = functools.partial(  # with the method's row: workers do not know a row that a --user-dir has added
            encode_block,
            method=METHODS[method],
            model=model,
            languages=plan.languages,
            lengths=plan.lengths(name, "after_bpe"),
        )
        source, target = (texts / f"{name}.{language}" for language in plan.languages)
        pairs = watched(blocks(source, target), f"pieces: {name}", source, target, quiet)
        counts[name] = write_split(name, ordered(work, pairs, workers), texts, plan.languages, folder)
    return counts


def write_split(
    name: str, encoded: Iterable[tuple[Block, Encoded]], texts: Path, languages: tuple[str, str], folder: Path
) -> SplitCounts:
    pairs, tokens, dropped = 0, (0, 0), Counter[str]()
    with contextlib.ExitStack() as stack:
        out = [stack.enter_context((folder / f"{name}.{language}").open("wb")) for language in languages]
        raw = [] if name == "train" else [f"{name}.raw.{language}" for language in languages]
        copies = [
            (stack.enter_context((texts / file).open("rb")), stack.enter_context((folder / file).open("wb")))
            for file in raw
        ]
        for block, result in encoded:
            for file, lines in zip(out, (result.source, result.target), strict=True):
                file.write(lines)
            for origin, copy in copies:
                raw_lines = list(itertools.islice(origin, block.pairs))
                copy.writelines(raw_lines[index] for index in result.indices)
            pairs += len(result.indices)
            tokens = tokens[0] + result.tokens[0], tokens[1] + result.tokens[1]
            dropped.update(result.dropped)
    return SplitCounts(pairs=pairs, tokens=tokens, dropped=dict(dropped))


def encode_block(
    block: Block, method: SubwordMethod, model: Path, languages: tuple[str, str], lengths: Lengths | None
) -> Encoded:
    source_tag, target_tag = map(method.tag.format, languages)
    source = tagged_sources(encoder(method, model)(split(block.source)), source_tag)
    target = tagged_targets(encoder(method.of_target, model)(split(block.target)), target_tag)
    faults = (fault(*pair, lengths) if lengths else None for pair in zip(source, target, strict=True))
    indices, dropped = without_fault(faults)
    source_text = "".join(f"{source[index]}\n" for index in indices).encode()
    target_text = "".join(f"{target[index]}\n" for index in indices).encode()
    tokens = len(source_text.split()), len(target_text.split())
    return Encoded(indices, source_text, target_text, tokens, dropped)
