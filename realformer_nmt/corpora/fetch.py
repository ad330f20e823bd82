"""`realformer-nmt fetch CORPUS --folder DIR`: download a corpus and extract the texts of its archives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages import outputs
from realformer_nmt.corpora.archives.download import UnavailableError, download, mismatch
from realformer_nmt.corpora.archives.extract import NOTE, extract
from realformer_nmt.corpora.manifest import load, shipped
from realformer_nmt.corpora.manifest_schema import Archive, Corpus, Member, Packing


@dataclass(frozen=True, kw_only=True)
class FetchRequest(Request):
    """Download a corpus and extract its texts; what is already there is verified and not done again."""

    subcommand: ClassVar[str] = "fetch"
    examples: ClassVar[str] = (
        "example: realformer-nmt fetch wmt14_en_de --folder data/wmt14_en_de --archives ~/downloads"
    )

    corpus: str = argument(f"{', '.join(shipped())}, or a manifest of your own, FILE.toml", metavar="CORPUS")
    folder: Path = option("where archives/ and texts/ are made")
    archives: Path | None = option("archives that you have; they are verified and not copied", None, metavar="DIR")
    quiet: bool = option("no progress bars", False)

    def run(self) -> int:
        corpus = load(self.corpus)
        outputs.check_folder(self.folder)
        texts = fetch_texts(corpus, self.folder, self.archives, quiet=self.quiet)
        for member, path in texts.items():
            print(f"{member.archive}:{member.path}\t{path}")
        return 0


TEXTS = "texts"  # folder of the extracted members
REQUEST = FetchRequest


class PackedFile(NamedTuple):
    """A file and the packing whose bytes it has; its own name may be that of a URL."""

    path: Path
    packing: Packing


def fetch_texts(
    corpus: Corpus, folder: Path, archives: Path | None = None, *, quiet: bool = False
) -> dict[Member, Path]:
    """Fetch and extract a corpus, and return the path of each text: FOLDER/texts/ARCHIVE/PATH, gzipped if it was."""
    files = fetch(corpus, folder / "archives", archives, quiet=quiet)
    texts = {}
    for name, (file, packing) in files.items():
        extracted = extract(file, corpus.members(name), folder / TEXTS / name, name=packing.name, quiet=quiet)
        texts.update({Member(name, path): text for path, text in extracted.items()})
    return texts


def extracted_files(corpus: Corpus) -> list[str]:
    """Return the paths of all texts of a corpus, and of the records of their extraction, from its folder."""
    names = [archive.name for archive in corpus.archives]
    return [f"{TEXTS}/{name}/{file}" for name in names for file in (*corpus.members(name), NOTE)]


def fetch(corpus: Corpus, folder: Path, archives: Path | None = None, *, quiet: bool = False) -> dict[str, PackedFile]:
    """Return a verified file and its packing for each archive: from `archives`, from `folder`, or downloaded there."""
    if archives is not None and not archives.is_dir():
        raise UserError(f"--archives {archives} is not a folder")
    local = [_local(archive, folder, archives) for archive in corpus.archives]  # first: errors come before downloads
    missing = [archive for archive, file in zip(corpus.archives, local, strict=True) if file is None]
    return {
        archive.name: file or _download(missing[missing.index(archive) :], folder, quiet)
        for archive, file in zip(corpus.archives, local, strict=True)
    }


def _local(archive: Archive, folder: Path, archives: Path | None) -> PackedFile | None:
    """Return a verified file of the archive that is on disk, if there is one; raise if another file has its name."""
    mismatches = []
    for path, packing in _candidates(archive, folder, archives):
        difference = mismatch(path, packing)
        if difference is None:
            return PackedFile(path, packing)
        if path.name == packing.name:  # names from URLs alone, such as dev.tgz, may belong to unrelated files
            mismatches.append(difference)
    if not mismatches:
        return None
    listed = "; ".join(mismatches)
    raise UserError(f"archive {archive.name}: another file has its name: {listed}; move it elsewhere")


def _download(missing: Sequence[Archive], folder: Path, quiet: bool) -> PackedFile:
    """Download the first of the missing archives; raise an error that names them all."""
    archive, reasons = missing[0], list[str]()
    for packing in archive.packings:
        outputs.check_free(folder / packing.name, "fetch")
        try:
            return PackedFile(download(packing, folder, quiet), packing)
        except UnavailableError as error:
            reasons += error.args
    names = ", ".join(" or ".join(packing.name for packing in each.packings) for each in missing)
    listed = "; ".join(reasons)
    raise UserError(f"archive {archive.name}: no URL delivers it: {listed}; put {names} into --archives DIR")


def _candidates(archive: Archive, folder: Path, archives: Path | None) -> Iterator[PackedFile]:
    for packing in archive.packings:
        paths = [archives / name for name in dict.fromkeys((packing.name, *packing.served))] if archives else []
        for path in (*paths, folder / packing.name):
            if path.is_file():
                yield PackedFile(path, packing)
