"""Language tags: the first token of a sentence on both sides, as M2M-100 (Fan et al. 2021) and NLLB-200 read them.

Without a tag all lines stay as they are.
"""

from realformer_nmt.corpora.subwords.subwords import Lines


def tagged_sources(lines: Lines, tag: str) -> Lines:
    """Return lines of subwords with the tag in front; empty ones stay empty, as they are not translated."""
    return [f"{tag} {line}" if tag and line else line for line in lines]


def tagged_targets(lines: Lines, tag: str) -> Lines:
    """Return lines with the tag in front, with which fairseq-generate begins every translation (--prefix-size 1)."""
    return [f"{tag} {line}".strip(" ") if tag else line for line in lines]


def untagged(lines: Lines, tag: str) -> Lines:
    return [line.removeprefix(tag).lstrip(" ") for line in lines] if tag else lines
