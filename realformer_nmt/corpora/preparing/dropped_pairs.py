"""Numbers of the pairs that `prepare` drops, as the terminal shows them; prepare.json has them for each text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from realformer_nmt.corpora.preparing.prepare_record import PartCounts
from realformer_nmt.data_bins.prepared_folder import TEXT

MANY = 1 / 4  # of the training pairs: the filter drops fewer from a corpus that it suits


def dropped_line(step: str, pairs: int, dropped: Iterable[Mapping[str, int]]) -> str | None:
    """Return the number of pairs that a step dropped, by reason; None if it dropped none."""
    reasons: Counter[str] = Counter()
    for counts in dropped:
        reasons.update(counts)
    listed = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in reasons.items())
    return f"{step}: {reasons.total():,} of {pairs:,} pairs dropped: {listed}" if listed else None


def ratio_warning(parts: Sequence[PartCounts]) -> str | None:
    """Return a warning if the ratio of lengths drops many training pairs, as of a language without spaces."""
    training = [part for part in parts if part.split == "train"]
    pairs, dropped = sum(part.pairs for part in training), sum(part.dropped.get("ratio", 0) for part in training)
    if dropped <= MANY * pairs:
        return None
    return (
        f"{TEXT}: {dropped:,} of {pairs:,} training pairs were dropped because one side has many times the words of "
        "the other; for a language without spaces between words, give a larger --ratio, such as 1000"
    )
