"""The stage after the subwords are learnt: every text as pieces, filtered by their number if the protocol says so."""

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.corpora.cleaning import fault
from realformer_nmt.corpora.corpus import Lengths
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.segments import Block, blocks
from realformer_nmt.corpora.subwords import encoder, split
from realformer_nmt.corpora.texts import Plan, splits


class Encoded(NamedTuple):
    places: list[int]  # of the pairs that stay
    source: bytes
    target: bytes
    tokens: tuple[int, int]
    dropped: Counter[str]


def write_pieces(
    texts: Path, model: Path, method: str, plan: Plan, workers: int, folder: Path, quiet: bool = False
) -> dict[str, Any]:
    """folder/train.en ... and, of what is scored, the raw text of the pairs that stay."""
    report = {}
    for name in splits(texts, plan.source):
        work = functools.partial(encode_block, method=method, model=model, lengths=plan.lengths(name, "after_bpe"))
        source, target = (texts / f"{name}.{language}" for language in plan.languages)
        pairs = watched(blocks(source, target), f"pieces: {name}", source, target, quiet)
        report[name] = write_split(name, ordered(work, pairs, workers), texts, plan.languages, folder)
    return {"pieces": report}


def write_split(
    name: str, encoded: Iterable[tuple[Block, Encoded]], texts: Path, languages: tuple[str, str], folder: Path
) -> dict[str, Any]:
    kept, tokens, dropped = 0, (0, 0), Counter[str]()
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
                lines_of = list(itertools.islice(origin, block.pairs))
                copy.writelines(lines_of[place] for place in result.places)
            kept += len(result.places)
            tokens = tokens[0] + result.tokens[0], tokens[1] + result.tokens[1]
            dropped.update(result.dropped)
    return {"pairs": kept, "tokens": tokens, "dropped": dropped}


def encode_block(block: Block, method: str, model: Path, lengths: Lengths | None) -> Encoded:
    encode = encoder(method, model)
    source, target = encode(split(block.source)), encode(split(block.target))
    dropped: Counter[str] = Counter()
    places = []
    for place, (ours, theirs) in enumerate(zip(source, target, strict=True)):
        reason = fault(ours, theirs, lengths) if lengths else None
        if reason is None:
            places.append(place)
        else:
            dropped[reason] += 1
    left, right = ("".join(f"{side[place]}\n" for place in places).encode() for side in (source, target))
    return Encoded(places, left, right, (len(left.split()), len(right.split())), dropped)
