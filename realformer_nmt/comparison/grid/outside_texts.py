"""Translations of the test set from elsewhere, such as an LLM's, which --outside NAME=FILE names."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.files.text_lines import read_lines, without_mark
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.tasks import TASKS


class OutsideText(NamedTuple):
    name: str
    file: Path

    def lines(self) -> list[str]:
        return without_mark(read_lines(self.file))


def parse(options: Sequence[str], grid: Grid, corpus: CorpusChoice) -> list[OutsideText]:
    """Return the texts; refuse a name that clashes, and a text with other lines than the reference."""
    if options and not TASKS[grid.task].translates:
        raise UserError(f"--outside is for translations, and the task of {grid.name}.toml is {grid.task}: leave it out")
    texts = list(map(parse_one, options))
    names = [*grid.families, *(text.name for text in texts)]
    for text in texts:
        if names.count(text.name) > 1:
            raise UserError(
                f"--outside {text.name}={text.file}: {text.name} is a family of the grid, or is named twice: choose "
                "another NAME"
            )
        check_lines(text, corpus, grid.subsets[0])
    return texts


def parse_one(option: str) -> OutsideText:
    name, equals, file = option.partition("=")
    if not (equals and file and safe_names.is_plain(name)):
        raise UserError(f"--outside {option}: allowed is NAME=FILE, where NAME has letters, digits and ._-+")
    return OutsideText(name, Path(file))


def check_lines(text: OutsideText, corpus: CorpusChoice, subset: str) -> None:
    """Refuse a text that is not of the test set by its number of lines; the reference may not be prepared yet."""
    try:
        lines, reference = text.lines(), raw_text(corpus, subset, 1)
    except UserError as error:
        raise UserError(f"--outside {text.name}={text.file}: {error}") from error
    if reference.is_file() and len(read_lines(reference)) != len(lines):
        raise UserError(
            f"--outside {text.name}={text.file} has {len(lines)} lines, and {reference} has "
            f"{len(read_lines(reference))}: give one detokenised line for each line of {subset}"
        )


def raw_text(corpus: CorpusChoice, subset: str, side: int) -> Path:
    """Return the raw source (0) or reference (1) of a subset, which a corpus has once it is prepared."""
    reference = corpus.references.get(subset)
    if reference and side:
        return reference
    return (corpus.text.prepared or corpus.data) / f"{subset}.raw.{corpus.pair()[side]}"
