"""Language tags: the first token of a sentence on both sides, as M2M-100 (Fan et al. 2021) and NLLB-200 read them."""

from realformer_nmt.corpora.subwords.subwords import Lines


def tagged(lines: Lines, tag: str) -> Lines:
    """Return lines of subwords with the tag in front, if there is one; empty lines stay empty."""
    return [f"{tag} {line}" if line else line for line in lines] if tag else lines


def untagged(lines: Lines, tag: str) -> Lines:
    return [line.removeprefix(tag).lstrip(" ") for line in lines] if tag else lines
