"""Title of a comparison whose grid has none: `Multi30k En-De: pre_ln, admin, realformer at 6 and 18 layers`."""

from collections.abc import Sequence

MOST_NAMED = 6  # families


def default_title(corpus: str, languages: Sequence[str], families: Sequence[str], depths: Sequence[str]) -> str:
    """Return the corpus, the families as the grid spells them, and their depths as a title."""
    pair = "_".join(languages)
    text = (corpus.removesuffix(f"_{pair}") if pair else corpus).replace("_", " ")
    direction = "-".join(language.capitalize() for language in languages)
    names = ", ".join(families) if len(families) <= MOST_NAMED else f"{len(families)} families"
    title = f"{' '.join(filter(None, (text, direction)))}: {names} at {layers(depths)}"
    return title[:1].upper() + title[1:]


def layers(depths: Sequence[str]) -> str:
    """Return `6 and 18 layers`."""
    return f"{listed(depths)} {'layer' if list(depths) == ['1'] else 'layers'}"


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
