"""Checks of a data-bin's files, before fairseq reads them in any task or command.

Only the format mmap is read, fairseq-preprocess's default. Of the other formats, .fasta runs a shell command with the
file's name in it, and none contains enough to be checked.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.data_bins.file_checks import check_prepared
from realformer_nmt.data_bins.index import AGAIN, check_sound

if TYPE_CHECKING:
    from fairseq.data import Dictionary

FORMAT = "mmap"
OTHER_FORMATS = ("", ".fasta")  # endings of files that fairseq reads in other formats


def dictionary(file: Path) -> "Dictionary":
    from fairseq.data import Dictionary  # here: the commands' --help does not wait for it

    with dictionary_file(file):
        return Dictionary.load(str(file))


@contextlib.contextmanager
def dictionary_file(file: Path) -> Iterator[None]:
    """Raise UserError if the dictionary cannot be read within this context."""
    if file.exists() and not file.is_file():
        raise UserError(f"{file} is no file; a data-bin has one for each of its languages")
    check_prepared(file)
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; a data-bin has one for each of its languages") from error
    except Exception as error:  # fairseq raises plain exceptions
        raise UserError(f"{file} is no dictionary of fairseq's: {one_line(error)}; {AGAIN}") from error


def has_sound_dataset(prefix: Path, impl: str, vocabulary: "Dictionary | None") -> bool:
    """Return whether a dataset exists, and raise if it is unsound; a test set may have no target."""
    if impl != FORMAT:
        raise UserError(f"{prefix} as --dataset-impl {impl}: allowed is {FORMAT}; {AGAIN}")
    for other in (f"{prefix}{suffix}" for suffix in OTHER_FORMATS):
        if Path(other).exists():
            raise UserError(f"{other} is not in the format {FORMAT}, the only one that is read; {AGAIN}")
    index, data = (Path(f"{prefix}.{suffix}") for suffix in ("idx", "bin"))
    for file in (index, data):
        check_prepared(file)
    if not index.exists() and not data.exists():
        return False
    language = prefix.name.rpartition(".")[2]
    size = None if vocabulary is None else len(vocabulary)
    check_sound(index, size, prefix.with_name(f"dict.{language}.txt"))
    return True
