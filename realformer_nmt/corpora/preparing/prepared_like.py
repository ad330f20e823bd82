"""Option --like of prepare: the languages, steps, subwords and dictionaries of an earlier preparation."""

import filecmp
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.preparing import prepare_record
from realformer_nmt.corpora.preparing.prepare_record import PrepareRecord
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.data_bins.file_checks import check_prepared, verify
from realformer_nmt.data_bins.languages import MANY, Pair, pair_of_many
from realformer_nmt.data_bins.prepared_folder import PreparedFolder

PAIR = ("source", "target")
IN_FOLDER = ("corpus", *PAIR, "subwords", "vocabulary")  # options whose values the folder holds


class Like(NamedTuple):
    """A prepared folder that another preparation follows."""

    folder: PreparedFolder
    record: PrepareRecord
    languages: Pair

    def subwords(self) -> dict[str, Path]:
        return {name: self.folder.subwords / name for name in METHODS[self.record.subwords].files}

    def dictionaries(self) -> list[Path]:
        """Return the dictionaries of source and target, or one if they are equal."""
        source, target = map(self.folder.dictionary, (self.record.source, self.record.target))
        return [source] if filecmp.cmp(source, target, shallow=False) else [source, target]

    def inputs(self) -> dict[str, Path]:
        files = [*self.subwords().values(), *self.dictionaries()]
        return {f"--like {file.parent.name}/{file.name}": file for file in files}


def read(request: PrepareRequest, folder: Path) -> Like:
    """Read a prepared folder; raise if the request has an option that the folder decides, or if a file has changed."""
    prepared = PreparedFolder(folder)
    record = prepare_record.read(prepared.record)
    languages = record.source, record.target
    many = languages == (MANY, MANY)
    for name in IN_FOLDER:
        if getattr(request, name) is not None and not (many and name in PAIR):
            option = "CORPUS" if name == "corpus" else f"--{name}"
            raise UserError(f"{option} {getattr(request, name)} and --like {folder}: the folder says it; leave it out")
    if many:
        languages = pair_of_many(prepared.data, (request.source, request.target), ("--source", "--target"))
    like = Like(prepared, record, languages)
    verify(folder, by_hash=False)
    for file in like.inputs().values():
        check_prepared(file)
    return like
